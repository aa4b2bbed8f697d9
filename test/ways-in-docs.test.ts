/** What docs/webhooks.md, docs/files.md and docs/schedules.md show, as a reader would try it. */
import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";

import { parseSchedule } from "../src/model/schedule.ts";
import { loadFiles } from "./support/config-home.ts";
import { blocksOf, readPage } from "./support/docs.ts";
import { openTestServer } from "./support/server.ts";

test.each(["webhooks", "files"])("the configuration in docs/%s.md is valid", async (name) => {
  const [example, ...more] = blocksOf(readPage(`docs/${name}.md`), "json");
  expect(more).toEqual([]);
  await expect(loadFiles({ "cortex.json": example! })).resolves.toBeDefined();
});

test("every schedule in docs/schedules.md is one", () => {
  const rows = [
    ...readPage("docs/schedules.md").matchAll(/^\| `([^`]+)`(?:, `([^`]+)`)?.*\| (?:as in|at|every|once)/gm),
  ];
  const schedules = rows.flatMap(([, one, other]) => (other === undefined ? [one!] : [one!, other]));
  expect(schedules.length).toBeGreaterThan(7);
  for (const schedule of schedules) expect(parseSchedule(schedule).text).toBe(schedule);
});

test("the lines for the shell in docs/webhooks.md sign a webhook that is taken", async () => {
  const environment = { PATH: process.env["PATH"], PAY_SECRET: "a secret of both ends" };
  const webhooks = { pay: { scheme: "generic", secretEnv: "PAY_SECRET" } };
  await using server = await openTestServer({ cortex: { channels: { webhooks } } }, { environment });
  // curl itself may not be installed: what it would send is printed, and sent from here.
  const [lines] = blocksOf(readPage("docs/webhooks.md"), "sh");
  const printing = `curl() { for part; do printf '%s\\0' "$part"; done; }\n${lines}`;
  const printed = execFileSync("sh", ["-c", printing], { env: environment, encoding: "utf8" }).split("\0");
  const after = (flag: string) =>
    printed.flatMap((part, index) => (printed[index - 1] === flag ? [part] : []));
  const headers = after("-H").map((line) => line.split(": ", 2) as [string, string]);
  const { status, json } = await server.send({
    method: "POST",
    path: "/webhooks/pay",
    body: after("-d")[0]!,
    headers: { authorization: undefined, ...Object.fromEntries(headers) },
  });
  expect([status, json]).toEqual([202, { eventId: "webhook:pay:order-17", fresh: true }]);
});

import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import { openTestCortex } from "../../test/support/home.ts";
import { DAY_MS } from "../model/durations.ts";
import type { Json } from "../model/json.ts";
import type { Cortex } from "../runtime/cortex.ts";

let count = 0;

function accept(cortex: Cortex, content: string, fields: object = {}) {
  const timestampMs = Date.UTC(2026, 2, 1);
  const at = { sender: "7", place: "7", placeKind: "dm" } as const;
  const id = { adapter: "telegram", channel: "telegram", sourceId: `m${++count}`, timestampMs };
  return cortex.accept({ ...id, ...at, content, ...fields });
}

const open = (person: object = {}, people: object = {}, clock = Date.now): Promise<Cortex> =>
  openTestCortex(
    { cortex: { channels: { paired: [{ channel: "telegram", sender: "7", ...person }] }, people } },
    { clock },
  );

const filesIn = ({ home }: Cortex): number => {
  const folder = join(home, "data", "attachments");
  return existsSync(folder) ? readdirSync(folder).length : 0;
};

const file = (bytes: number): Json => [
  { name: "a.bin", data: Buffer.alloc(bytes, ++count).toString("base64") },
];

test("a search hit names the tools that its author may not use", async () => {
  await using cortex = await open({ permissions: { tools: { deny: ["Bash"] } } });
  await accept(cortex, "the lighthouse of Antwerp");
  const [hit] = await cortex.store.events.search("lighthouse");
  expect(hit!.label).toMatchObject({ untrusted: ["person:telegram-7"], denied: ["Bash"] });
});

test("a person's files are kept up to a limit, which refills over a day", async () => {
  let nowMs = Date.UTC(2026, 2, 1);
  await using cortex = await open({}, { attachmentsMbPerDay: 1 }, () => nowMs);
  const big = { attachments: file(700_000) };
  await accept(cortex, "look", big);
  const { event } = await accept(cortex, "look", { attachments: file(700_000) });
  expect(await cortex.store.events.get(event)).toMatchObject({
    content: "look",
    attachments: [{ name: "a.bin", bytes: 700_000, state: "over_limit" }],
  });
  expect(filesIn(cortex)).toBe(1);
  nowMs += DAY_MS;
  await accept(cortex, "look", { attachments: file(700_000) });
  expect(filesIn(cortex)).toBe(2);
});

test("a redelivered event keeps no further files", async () => {
  await using cortex = await open();
  await accept(cortex, "look", { sourceId: "again", attachments: file(10) });
  await accept(cortex, "look", { sourceId: "again", attachments: file(10) });
  expect(filesIn(cortex)).toBe(1);
});

/** `cortex doctor` from outside. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import { fetchJson, run, runJson, startServer } from "./support/cli.ts";
import { temporaryFolder } from "./support/temporary.ts";

const aboutServer = expect.objectContaining({
  name: "server",
  state: "ok",
  message: expect.stringMatching(/version \d/),
});

test("the doctor looks at a home beside its server, which says the same over HTTP", async () => {
  using home = temporaryFolder();
  await using _ = await startServer(home.path);
  const { checks } = (await runJson(home.path, "doctor")) as { checks: readonly { name: string }[] };
  expect(checks).toContainEqual(aboutServer);
  const served = (await fetchJson(home.path, "/api/doctor")) as { checks: readonly { name: string }[] };
  expect(served.checks).toContainEqual(aboutServer);
  expect(served.checks.map(({ name }) => name)).toEqual(checks.map(({ name }) => name));
});

test("with a failure it ends with 1, and each fault has a line of what to do", async () => {
  using home = temporaryFolder();
  mkdirSync(join(home.path, "config"));
  writeFileSync(join(home.path, "config", "cortex.json"), '{ "sandbx": "off" }');
  const { code, out, err } = await run(home.path, ["doctor"]);
  expect({ code, err }).toEqual({ code: 1, err: "" });
  expect(out).toMatch(/^ok +node +\d+\..*\n/);
  expect(out).toMatch(/^fail +config +.*\n +.*sandbx/m);
  expect(out).toMatch(/\n\n1 failure, \d warnings?\.\n$/);
  expect(await run(home.path, ["doctor", "--json"])).toMatchObject({
    code: 1,
    out: expect.stringMatching(/^\{"state":"fail"/),
  });
});

/** `cortex doctor` from outside. */
import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import { fetchJson } from "./support/cli.ts";
import { run, runJson, startServer } from "./support/here.ts";
import { writeHome } from "./support/home.ts";
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

test("what keeps Cortex from starting ends it with 78, and so does starting; each fault has a line of what to do", async () => {
  using home = temporaryFolder();
  mkdirSync(join(home.path, "config"));
  writeFileSync(join(home.path, "config", "cortex.json"), '{ "sandbx": "off" }');
  const { code, out, err } = await run(home.path, ["doctor"]);
  expect({ code, err }).toEqual({ code: 78, err: "" });
  expect(out).toMatch(/^ok +node +\d+\..*\n/);
  expect(out).toMatch(/^fail +config +.*sandbx.*\n +Did you mean "sandbox"/m);
  expect(out).toMatch(/\n\n1 failure, \d warnings?\. Cortex cannot start until the failures are fixed\.\n$/);
  expect(await run(home.path, ["doctor", "--json"])).toMatchObject({
    code: 78,
    out: expect.stringMatching(/^\{"state":"fail","canStart":false/),
  });
  expect(await run(home.path, ["up"])).toMatchObject({ code: 78, err: expect.stringContaining("sandbx") });
  expect(readFileSync(join(home.path, "logs", "cortex.log"), "utf8")).toMatch(
    /^\S+Z Cortex exited: .*sandbx/s,
  );
});

test("with another failure it ends with 1", async () => {
  using home = temporaryFolder();
  const webhooks = { pay: { scheme: "generic", secretEnv: "PAY" } };
  writeHome(home.path, { cortex: { server: { port: 0 }, channels: { webhooks } } });
  expect(await run(home.path, ["doctor"])).toMatchObject({
    code: 1,
    out: expect.stringMatching(/\n\n1 failure, \d warnings?\.\n$/),
  });
});

test("it shows what it would change, and changes it when it is told to", async () => {
  using home = temporaryFolder();
  writeHome(home.path, { cortex: { server: { port: 0 } } });
  const secret = join(home.path, "config", ".env");
  writeFileSync(secret, "A=b\n");
  chmodSync(secret, 0o644);
  const diff = `- 0644 ${secret}\n+ 0600 ${secret}`;
  expect((await run(home.path, ["doctor"])).out).toContain(`would change:\n${diff}\n`);
  expect(statSync(secret).mode & 0o777).toBe(0o644);
  expect((await run(home.path, ["doctor", "--fix"])).out).toContain(`Changed:\n${diff}\n`);
  expect(statSync(secret).mode & 0o777).toBe(0o600);
  expect((await run(home.path, ["doctor", "--fix"])).out).toMatch(/^Nothing to change\.\n/);
  expect(await runJson(home.path, "doctor", "--fix", "--offline")).toMatchObject({
    fixed: [],
    canStart: true,
  });
});

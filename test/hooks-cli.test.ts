/** Hooks as their owner meets them on the command line. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import { start } from "./support/cli.ts";
import { run, runJson, startServer } from "./support/here.ts";
import { openTestCortex } from "./support/home.ts";
import { judge } from "./support/judged.ts";
import { PATIENT } from "./support/server.ts";
import { SMALL_RELAYS, SMALL_SCRIPT } from "./support/small-relays.ts";
import { temporaryFolder } from "./support/temporary.ts";

const BELL = `/**
 * @name Bell
 * @description Has somebody look who rings
 */
export const filter = { channels: ["cli"], match: "^ring" };
export default async ({ event }) => {
  if (event.content === "ring broken") throw new Error("the wire is cut");
  return { fire: event.content === "ring", routing: { session: "door" } };
};
`;

const status = async (home: string, name: string) =>
  ((await runJson(home, "hooks", "list")) as { items: { name: string; status: string }[] }).items.find(
    (hook) => hook.name === name,
  )?.status;

test("a new home begins with hooks, and one of them is active", { timeout: 120_000 }, async () => {
  using home = temporaryFolder();
  const { out } = await run(home.path, ["init"]);
  expect(out).toContain(`Wrote 7 hooks to ${join(home.path, "hooks")}`);
  await using _ = await startServer(home.path);
  const list = async () => (await run(home.path, ["hooks"])).out.split("\n").filter((line) => line !== "");
  await expect.poll(list, PATIENT).toHaveLength(7);
  expect((await list()).filter((line) => /^\S+ +active/.test(line))).toEqual([
    expect.stringContaining("default-dm-routing"),
  ]);
  expect((await run(home.path, ["hooks", "next"])).out).toBe("No active hook has a schedule.\n");

  expect((await run(home.path, ["hooks", "enable", "heartbeat"])).out).toBe("heartbeat is active.\n");
  const next = (await run(home.path, ["hooks", "next", "--limit", "3"])).out.trimEnd().split("\n");
  expect(next).toHaveLength(3);
  for (const line of next) expect(line).toMatch(/:[03]0:00  heartbeat  \*\/30 8-22 \* \* \* \(UTC\)$/);
  expect((await run(home.path, ["hooks", "disable", "heartbeat"])).out).toBe("heartbeat is disabled.\n");
});

test("a hook is written, tried, shown, and told of when it fires", { timeout: 120_000 }, async () => {
  using home = temporaryFolder();
  mkdirSync(join(home.path, "hooks"));
  await using _ = await startServer(home.path);
  writeFileSync(join(home.path, "hooks", "bell.ts"), BELL);
  await expect.poll(() => status(home.path, "bell"), PATIENT).toBe("active");

  const tried = (...args: string[]) => run(home.path, ["hooks", "test", "bell", ...args]);
  const fires = await tried("--channel", "cli", "--content", "ring");
  expect(fires).toMatchObject({ code: 0, out: expect.stringMatching(/^bell fires, after .*"door"/s) });
  expect((await tried("--channel", "sms", "--content", "ring")).out).toContain("does not pass its filter");
  expect(await tried("--channel", "cli", "--content", "ring broken")).toMatchObject({
    code: 1,
    out: expect.stringContaining("the wire is cut"),
  });
  expect(await tried("--content", "ring")).toMatchObject({ code: 2 });
  expect((await tried("--channel", "cli", "--payload", "{")).err).toContain("Expected JSON for --payload");

  await run(home.path, ["send", "hello", "--key", "zero"]);
  const following = start(home.path, "events", "--follow", "--why");
  await following.says("cli:zero");
  await run(home.path, ["send", "ring", "--key", "one"]);
  await following.says("cli:one");
  await following.says("cli:one: hook bell fired");
  await following.says("cli:one: hook bell dispatched it to door: queued");
  await run(home.path, ["send", "ring broken", "--key", "two"]);
  await following.says("cli:two: hook bell failed");
  following.child.kill();
  await following.ended;

  const { out } = await run(home.path, ["events", "--why"]);
  expect(out).toMatch(/cli:one +ring\n(?: .*\n)*  hook bell dispatched it to door: queued\n/);
  expect((await run(home.path, ["hooks", "runs", "bell"])).out.split("\n").slice(0, 2)).toEqual([
    expect.stringMatching(/failed .*cli:two .*the wire is cut/),
    expect.stringMatching(/fired .*cli:one/),
  ]);
  const shown = (await run(home.path, ["hooks", "show", "bell"])).out;
  for (const part of ["Has somebody look who rings", "1 error in 2 runs", 'match: "^ring"'])
    expect(shown).toContain(part);
  expect((await run(home.path, ["why", "cli:one"])).out).toContain("hook bell fired after");
  expect((await run(home.path, ["why", "cli:two"])).out).toContain("hook bell failed after");
});

test(
  "a template is written where there is none of that name, and works as it is",
  { timeout: 120_000 },
  async () => {
    using home = temporaryFolder();
    mkdirSync(join(home.path, "hooks"));
    const made = await run(home.path, ["hooks", "new", "invoices"]);
    expect(made).toMatchObject({ code: 0, out: expect.stringContaining("cortex hooks enable invoices") });
    expect(await run(home.path, ["hooks", "new", "weekly", "--schedule", "0 9 * * 1"])).toMatchObject({
      code: 0,
    });
    const path = join(home.path, "hooks", "invoices.ts");
    const before = readFileSync(path, "utf8");
    expect(await run(home.path, ["hooks", "new", "invoices"])).toMatchObject({
      code: 1,
      err: expect.stringContaining('Hook "invoices" already exists'),
    });
    expect(readFileSync(path, "utf8")).toBe(before);
    const wrong = await run(home.path, ["hooks", "new", "late", "--schedule", "sometimes"]);
    expect(wrong).toMatchObject({ code: 1, err: expect.stringContaining('Invalid schedule "sometimes"') });

    await using _ = await startServer(home.path);
    await expect.poll(() => status(home.path, "invoices"), PATIENT).toBe("disabled");
    const email = ["--channel", "email", "--content", "Invoice 7 over 20 €"];
    const { out } = await run(home.path, ["hooks", "test", "invoices", ...email]);
    expect(out).toMatch(/^invoices fires/);
    const weekly = await run(home.path, [
      "hooks",
      "test",
      "weekly",
      "--channel",
      "timer",
      "--at",
      "2026-03-02T09:00",
    ]);
    expect(weekly.out).toMatch(/^weekly fires/);
  },
);

test("what is not there is said", async () => {
  using home = temporaryFolder();
  mkdirSync(join(home.path, "hooks"));
  await using _ = await startServer(home.path);
  expect((await run(home.path, ["hooks"])).out).toContain("No hooks.");
  for (const command of ["show", "runs", "enable", "disable"]) {
    const { code, err } = await run(home.path, ["hooks", command, "nothing"]);
    expect([command, code, err]).toEqual([command, 1, expect.stringContaining('"nothing"')]);
  }
});

test("what changes a hook needs a server", async () => {
  using home = temporaryFolder();
  expect(await run(home.path, ["hooks", "enable", "bell"])).toMatchObject({ code: 3 });
});

test("why says of an event that became a relay which one, and no more", async () => {
  await using cortex = await openTestCortex({
    cortex: { channels: { paired: [{ channel: "email", sender: "ada" }] } },
    hooks: {
      "mail.ts": `export const filter = { channels: ["email"] };
        export default () => ({ fire: true, routing: { relay: "pair" } });`,
    },
    relays: SMALL_RELAYS,
    script: SMALL_SCRIPT,
  });
  await expect.poll(() => cortex.store.hooks.list(), PATIENT).toHaveLength(1);
  const mail = { channel: "email", sender: "ada", place: "ada", content: "a letter" };
  const { event } = await judge(cortex, mail);
  const { out } = await run(cortex.home, ["why", event]);
  expect(out).toMatch(/hook mail started the relay thr_\w{8}\n/);
  expect(out).not.toContain("no further processing");
});

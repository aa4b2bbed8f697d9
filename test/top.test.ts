/** `cortex top` and what `cortex status` tells of work, from outside. */
import { expect, test } from "vitest";

import { start, startInTerminal } from "./support/cli.ts";
import { run, runJson, startServer } from "./support/here.ts";
import { writeHome } from "./support/home.ts";
import { PATIENT } from "./support/server.ts";
import { temporaryFolder } from "./support/temporary.ts";

const LONG = { timeout: 300_000 };

/** A server with one turn that was answered and one that waits for a yes. */
async function busyHome(home: string) {
  const personas = { atlas: { permissions: { ask: ["Write"] } } };
  writeHome(home, { cortex: { personas, server: { port: 0 } }, profiles: {} });
  const server = await startServer(home);
  await run(home, ["send", "hello", "--wait"]);
  await run(home, ["send", '/tool Write {"path":"a.txt","content":"x"}', "--session", "agent:main:ask"]);
  await expect
    .poll(async () => (await runJson(home, "approvals")) as { items: unknown[] }, PATIENT)
    .toMatchObject({ items: [{ tool: "Write" }] });
  return server;
}

test("what runs, waits for a person and costs is told once, and again when it changes", LONG, async () => {
  using home = temporaryFolder();
  await using _ = await busyHome(home.path);

  const told = (await run(home.path, ["status"])).out;
  expect(told).toMatch(
    /\nrequests +1 request pending: run `cortex approvals`\ncost +0\.0000 USD in 24 hours, 1 turn, 0 model calls, 0 tokens\n$/,
  );
  expect(told).toMatch(/\n +agent:main:ask: suspended since /);

  const top = start(home.path, "top");
  await top.says("1 suspended");
  await top.says("Requests\nagent:main:ask  Write");
  await run(home.path, ["send", "hello again", "--wait"]);
  await top.says("(2 turns)");
  top.child.kill("SIGINT");
  expect(await top.ended).toMatchObject({ code: 0, err: "" });
});

test("as JSON it is a line for each change, and it needs no server", LONG, async () => {
  using home = temporaryFolder();
  const top = start(home.path, "top", "--json");
  await top.says("\n");
  top.child.kill("SIGTERM");
  const { code, out } = await top.ended;
  expect(code).toBe(0);
  expect(JSON.parse(out)).toMatchObject({ server: null, counts: null, runs: [] });
});

test("in a terminal it is a page that q ends", LONG, async ({ skip }) => {
  using home = temporaryFolder();
  const top = startInTerminal(home.path, "top");
  if (top === undefined) return skip("neither script nor python3 is here to make a terminal");
  await top.says("no server is running");
  await top.says("press q to quit");
  top.type("q");
  expect(await top.ended).toMatchObject({ code: 0, out: expect.stringContaining("\u001b[?1049l") });
});

/** The demo as somebody runs it: all of it, and ended in the middle. */
import { existsSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import { listProcesses } from "../src/agents/process/list-processes.ts";
import { environmentOf, run, start, startInTerminal, type Started } from "./support/cli.ts";
import { runHere } from "./support/run-here.ts";
import { shellWords } from "./support/shell-words.ts";
import { temporaryFolder } from "./support/temporary.ts";

const LONG = { timeout: 120_000 };
const PATIENT = { timeout: 50_000 };

interface Told {
  readonly step: number;
  readonly name: string;
  readonly commands: readonly string[];
  readonly facts: Readonly<Record<string, unknown>>;
}

/** A home with something in it that must stay as it is; temporary folders are made beside it. */
function usersHome(): Disposable & { readonly path: string; isAsItWas(): boolean } {
  const folder = temporaryFolder();
  writeFileSync(join(folder.path, "mine"), "");
  return { ...folder, isAsItWas: () => readdirSync(folder.path).join() === "mine" };
}

const isLeft = async (pid: number): Promise<boolean> =>
  (await listProcesses()).some((each) => each.pid === pid || each.group === pid);

test("the demo shows what it says, and whoever keeps its home can type what it shows", LONG, async () => {
  using home = usersHome();
  const { code, out, err } = await run(home.path, ["demo", "--json", "--keep"]);
  expect([code, err]).toEqual([0, ""]);
  const lines = out.trimEnd().split("\n");
  const [begun, ...steps] = lines.map((line) => JSON.parse(line) as Told & { home: string; pid: number });
  using _ = { [Symbol.dispose]: () => rmSync(begun!.home, { recursive: true }) };
  expect(steps.pop()).toEqual({ name: "kept", home: begun!.home });
  expect(steps.map(({ step, name }) => [step, name])).toEqual([
    [1, "chat"],
    [2, "steer"],
    [3, "fork"],
    [4, "hook"],
    [5, "relay"],
    [6, "team"],
    [7, "kill"],
    [8, "verify"],
  ]);
  const { chat, steer, fork, hook, relay, team, kill, verify } = Object.fromEntries(
    steps.map(({ name, facts }) => [name, facts]),
  );
  expect(chat).toMatchObject({ tools: ["Read"], text: expect.stringContaining("**Three things** are left") });
  expect(steer).toMatchObject({
    asked: ["Build the site.", "Leave out the blog."],
    tools: ["Bash", "Bash"],
  });
  expect(fork).toMatchObject({
    common: chat!["turnId"],
    texts: [expect.stringContaining("without the blog"), expect.stringContaining("A leaflet")],
  });
  expect((fork!["heads"] as string[])[0]).toBe(steer!["turnId"]);
  expect(hook).toMatchObject({
    answers: ["signature_invalid", "webhook:shop:order-16", "webhook:shop:order-17"],
    fired: ["webhook:shop:order-17"],
  });
  expect(relay).toMatchObject({
    status: "completed",
    agents: ["surveyor", "synthesiser", "critic"],
    artifact: expect.stringMatching(/# Survey\n.*\n# Answer\n.*\n# Critique\n/s),
  });
  expect(team).toMatchObject({
    status: "done",
    summary: expect.stringContaining("The hours are in hours.md"),
  });
  expect(kill).toMatchObject({
    killed: begun!.pid,
    calls: ["Bash ok", "Bash ok"],
    charges: ["order 17: 250 €"],
  });
  expect(verify).toEqual({ ok: true, turns: 9 });

  const shown = steps.flatMap(({ commands }) => commands);
  const reading = shown.map(shellWords).filter((words) => NEED_NO_SERVER.test(words.join(" ")));
  expect(reading).toHaveLength(8);
  const environment = { ...environmentOf(begun!.home), CORTEX_PROFILE: undefined };
  for (const argv of reading) expect([argv, (await runHere(environment, argv)).code]).toEqual([argv, 0]);

  expect(home.isAsItWas()).toBe(true);
  for (const pid of [kill!["killed"], kill!["pid"]]) expect(await isLeft(pid as number)).toBe(false);
});

const NEED_NO_SERVER = /^(diff|events|log|relay show|show|team status|verify)\b/;

/** Starts a demo for programs, and waits until its server is up. */
async function startDemo(home: string): Promise<Started & { readonly home: string; readonly pid: number }> {
  const started = start(home, "demo", "--json");
  let out = "";
  for await (const chunk of started.child.stdout.iterator({ destroyOnReturn: false })) {
    out += String(chunk);
    if (out.includes("\n")) break;
  }
  return { ...started, ...(JSON.parse(out.split("\n")[0]!) as { home: string; pid: number }) };
}

test.each([
  ["is told to stop", ({ child }: Started) => child.kill("SIGTERM")],
  ["has nobody left who reads", ({ child }: Started) => child.stdout.destroy()],
])("a demo that %s leaves nothing running and nothing behind", LONG, async (_, end) => {
  using home = usersHome();
  const demo = await startDemo(home.path);
  end(demo);
  await demo.ended;
  expect(existsSync(demo.home)).toBe(false);
  expect(home.isAsItWas()).toBe(true);
  await expect.poll(() => isLeft(demo.pid), PATIENT).toBe(false);
});

test("the server of a demo that is killed stops by itself", LONG, async () => {
  using home = usersHome();
  const demo = await startDemo(home.path);
  demo.child.kill("SIGKILL");
  await demo.ended;
  await expect.poll(() => isLeft(demo.pid), PATIENT).toBe(false);
  rmSync(demo.home, { recursive: true }); // which nobody was left to do
});

test(
  "in a terminal, Enter goes on and Ctrl-C leaves, also with a home that is kept",
  LONG,
  async (context) => {
    using home = usersHome();
    const demo = startInTerminal(home.path, "demo", "--keep") ?? context.skip("no way to make a terminal");
    await demo.says("press Enter to continue");
    demo.type("\r");
    await demo.says("2/8");
    demo.type("\x03");
    const { code, out } = await demo.ended;
    expect(code).toBe(130);
    const kept = /Home kept: (\S+)/.exec(out)![1]!;
    expect(existsSync(join(kept, "data", "cortex.db"))).toBe(true);
    expect(home.isAsItWas()).toBe(true);
    rmSync(kept, { recursive: true });
  },
);

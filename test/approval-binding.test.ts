/** What an approval is bound to: the call, what the session has read, and the files that it changes or runs. */
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { expect, test } from "vitest";

import { decide } from "../src/intake/approvals.ts";
import { MAIN_SESSION } from "../src/model/session-key.ts";
import type { Request } from "../src/model/request.ts";
import type { Cortex, CortexOptions } from "../src/runtime/cortex.ts";
import type { SqliteStore } from "../src/store/sqlite/sqlite-store.ts";
import type { Approval } from "../src/store/store.ts";
import { openTestCortex, writeHome } from "./support/home.ts";
import { PATIENT } from "./support/server.ts";
import { temporaryFolder } from "./support/temporary.ts";

const OWNER = { name: "owner", isOwner: true };
const ASKING = {
  sandbox: "off",
  personas: { atlas: { permissions: { tools: { allow: ["*"] }, ask: ["Bash", "Write"] } } },
};
const HOOK = `/**\n * @description Rings\n * @origin agent\n */\nexport const filter = { channels: ["door"] };
export default async () => ({ fire: false });\n`;

const play = (tool: string, args: object): string =>
  `- when: ^${tool}\n  plays:\n    - calls: [{ tool: ${tool}, args: ${JSON.stringify(args)} }]\n    - say: done\n`;
const SCRIPT = [
  play("Bash", { command: "sh tools/run.sh" }),
  play("Write", { path: "notes.md", content: "two\n" }),
  play("enable_hook", { name: "bell" }),
  `- when: ^both\n  plays:\n    - calls: [{ tool: Bash, args: { command: "echo a >> log" } }, { tool: Bash, args: { command: "echo b >> log" } }]\n    - say: done\n`,
].join("");

interface Scene extends AsyncDisposable {
  readonly cortex: Cortex;
  readonly file: (name: string) => string;
  write(name: string, text: string): void;
  say(text: string): Promise<() => Promise<unknown>>;
  asked(): Promise<Approval & { readonly request: Request }>;
  approve(request: Approval): Promise<void>;
  results(): Promise<string[]>;
}

function sceneOf(cortex: Cortex): Omit<Scene, keyof AsyncDisposable> {
  const { store, home } = cortex;
  const file = (name: string): string => join(home, "workspaces", "main", name);
  const open = async () => (await store.approvals.list({ state: "open" })).items;
  return {
    cortex,
    file,
    write(name, text) {
      mkdirSync(dirname(file(name)), { recursive: true });
      writeFileSync(file(name), text);
    },
    async say(content) {
      const { item } = await cortex.send({ content, session: "main" });
      return () => cortex.outcome(item, AbortSignal.timeout(60_000));
    },
    async asked() {
      await expect.poll(open, PATIENT).toHaveLength(1);
      return (await open())[0]! as Approval & { readonly request: Request };
    },
    async approve({ id }) {
      await decide(id, { kind: "approve" }, OWNER, store);
    },
    async results() {
      const head = await store.sessions.head(MAIN_SESSION);
      return (await store.turns.read(head!))!.toolCalls.map(
        ({ result }) => (result as { text: string }).text,
      );
    },
  };
}

async function openScene(config: object = ASKING, options: Partial<CortexOptions> = {}): Promise<Scene> {
  const files = { cortex: config, script: SCRIPT, hooks: { "bell.ts": HOOK } };
  const cortex = await openTestCortex(files, options);
  return { ...sceneOf(cortex), [Symbol.asyncDispose]: () => cortex[Symbol.asyncDispose]() };
}

test("a request holds what led to it, for whom, what the session has read, and the files that it runs", async () => {
  await using scene = await openScene();
  scene.write("tools/run.sh", "echo good >> log\n");
  await scene.say("Bash please");
  const { request, callHash } = await scene.asked();
  expect(request).toMatchObject({
    tool: "Bash",
    args: { command: "sh tools/run.sh" },
    agent: "main",
    workspace: dirname(scene.file("x")),
    principal: "owner",
    labels: [],
    causedBy: { sender: "owner", channel: "http", text: "Bash please" },
    files: [{ path: "tools/run.sh", sha256: expect.stringMatching(/^[0-9a-f]{64}$/) }],
  });
  expect(callHash).toMatch(/^[0-9a-f]{64}$/);
});

test("a script that was swapped after the request is not run, and a person is asked about the new one", async () => {
  await using scene = await openScene();
  scene.write("tools/run.sh", "echo good >> log\n");
  const ended = await scene.say("Bash");
  const first = await scene.asked();
  scene.write("tools/run.sh", "echo evil >> log\n");
  await scene.approve(first);

  await expect
    .poll(async () => (await scene.cortex.store.approvals.get(first.id))!.state, PATIENT)
    .toBe("void");
  const second = await scene.asked();
  expect(existsSync(scene.file("log"))).toBe(false);
  expect(second.request.again).toBe('"tools/run.sh" changed after the request');
  expect(second.callHash).not.toBe(first.callHash);

  await scene.approve(second);
  await ended();
  expect(readFileSync(scene.file("log"), "utf8")).toBe("evil\n");
});

test("a script that is swapped again makes the call fail", async () => {
  await using scene = await openScene();
  scene.write("tools/run.sh", "echo good >> log\n");
  const ended = await scene.say("Bash");
  for (const word of ["one", "two"]) {
    const asked = await scene.asked();
    scene.write("tools/run.sh", `echo ${word} >> log\n`);
    await scene.approve(asked);
    await expect
      .poll(async () => (await scene.cortex.store.approvals.get(asked.id))!.state, PATIENT)
      .not.toBe("open");
    await expect
      .poll(async () => (await scene.cortex.store.approvals.list({ limit: 10 })).items.length, PATIENT)
      .toBe(2);
  }
  await ended();
  expect(await scene.results()).toEqual([
    expect.stringContaining("changed after the request, for the second time"),
  ]);
  expect(existsSync(scene.file("log"))).toBe(false);
});

test("a second request survives a crash, and its call is made once", async () => {
  using folder = temporaryFolder();
  const home = folder.path;
  writeHome(home, { cortex: ASKING, script: SCRIPT });
  const first = await openTestCortex({}, { home });
  const before = sceneOf(first);
  before.write("tools/run.sh", "echo good >> log\n");
  await before.say("Bash");
  const asked = await before.asked();
  before.write("tools/run.sh", "echo better >> log\n");
  await before.approve(asked);
  await expect.poll(async () => (await first.store.approvals.get(asked.id))!.state, PATIENT).toBe("void");
  const again = await before.asked();
  await (first.store as SqliteStore).crash();
  await first.stop().catch(() => {});

  await using second = await openTestCortex({}, { home });
  const after = sceneOf(second);
  expect((await after.asked()).id).toBe(again.id);
  await after.approve(again);
  await expect.poll(async () => (await second.store.sessions.get(MAIN_SESSION))!.state, PATIENT).toBe("idle");
  expect(readFileSync(after.file("log"), "utf8")).toBe("better\n");
  expect(await second.store.approvals.get(again.id)).toMatchObject({ state: "used" });
});

test("text from others that reached the session after the request voids the approval", async () => {
  await using scene = await openScene();
  scene.write("tools/run.sh", "echo good >> log\n");
  const ended = await scene.say("Bash");
  const first = await scene.asked();
  await scene.cortex.store.sessions.configure(MAIN_SESSION, { trust: { untrusted: true } });
  await scene.approve(first);

  await expect
    .poll(async () => (await scene.cortex.store.approvals.get(first.id))!.state, PATIENT)
    .toBe("void");
  const second = await scene.asked();
  expect(existsSync(scene.file("log"))).toBe(false);
  expect(second.request).toMatchObject({
    labels: ["untrusted: unknown"],
    again: expect.stringContaining(
      "Text from others reached this conversation after the request (untrusted: unknown)",
    ),
  });
  await scene.approve(second);
  await ended();
  expect(readFileSync(scene.file("log"), "utf8")).toBe("good\n");
});

test("calls of one message are decided once each, although the first one's output is text from others", async () => {
  using broken = temporaryFolder();
  writeFileSync(join(broken.path, "bwrap"), "#!/bin/sh\nexit 1\n", { mode: 0o755 });
  const environment = { PATH: `${broken.path}:${process.env["PATH"]}` };
  await using scene = await openScene({ ...ASKING, sandbox: "auto" }, { environment });
  const { store } = scene.cortex;
  const ended = await scene.say("both");
  const open = async () => (await store.approvals.list({ state: "open" })).items;
  await expect.poll(open, PATIENT).toHaveLength(2);
  const [second, first] = await open();
  await scene.approve(first!);
  await expect.poll(() => existsSync(scene.file("log")), PATIENT).toBe(true);
  await expect.poll(async () => (await store.sessions.get(MAIN_SESSION))!.state, PATIENT).toBe("suspended");
  expect((await store.sessions.get(MAIN_SESSION))!.settings).toMatchObject({
    trust: { untrusted: { "tool:Bash": true } },
  });
  await scene.approve(second!);
  await ended();
  expect(readFileSync(scene.file("log"), "utf8")).toBe("a\nb\n");
  expect((await store.approvals.list({ limit: 10 })).items).toHaveLength(2);
});

test("a file that changed after the request is not overwritten", async () => {
  await using scene = await openScene();
  scene.write("notes.md", "one\n");
  const ended = await scene.say("Write");
  const first = await scene.asked();
  expect(first.request.diff).toContain("-one\n+two\n");
  scene.write("notes.md", "mine\n");
  await scene.approve(first);

  await expect
    .poll(async () => (await scene.cortex.store.approvals.get(first.id))!.state, PATIENT)
    .toBe("void");
  const second = await scene.asked();
  expect(readFileSync(scene.file("notes.md"), "utf8")).toBe("mine\n");
  expect(second.request.diff).toContain("-mine\n+two\n");
  await scene.approve(second);
  await ended();
  expect(readFileSync(scene.file("notes.md"), "utf8")).toBe("two\n");
});

test("whoever enables a hook sees its code, and an edit after the request is asked about again", async () => {
  await using scene = await openScene();
  const ended = await scene.say("enable_hook");
  const first = await scene.asked();
  const path = join(scene.cortex.home, "hooks", "bell.ts");
  expect(first.request).toMatchObject({ diff: HOOK, files: [{ path, sha256: expect.any(String) }] });
  appendFileSync(path, "// and more\n");
  await scene.approve(first);

  await expect
    .poll(async () => (await scene.cortex.store.approvals.get(first.id))!.state, PATIENT)
    .toBe("void");
  expect(await scene.cortex.store.hooks.get("bell")).toMatchObject({ state: "disabled" });
  const second = await scene.asked();
  expect(second.request.diff).toContain("// and more");
  await scene.approve(second);
  await ended();
  expect(await scene.cortex.store.hooks.get("bell")).toMatchObject({ state: "active" });
});

test("a decision about a request that the person has not seen decides nothing", async () => {
  await using scene = await openScene();
  scene.write("tools/run.sh", "echo good >> log\n");
  const ended = await scene.say("Bash");
  const { id, callHash } = await scene.asked();
  const { store } = scene.cortex;
  for (const kind of ["approve", "deny"] as const)
    await expect(decide(id, { kind, digest: "0".repeat(64) }, OWNER, store)).rejects.toMatchObject({
      code: "approval_changed",
      message: expect.stringContaining(callHash),
      hint: expect.stringContaining(`cortex approvals show ${id}`),
    });
  expect((await store.approvals.get(id))!.state).toBe("open");
  await decide(id, { kind: "approve", digest: callHash }, OWNER, store);
  await decide(id, { kind: "approve", digest: callHash }, OWNER, store); // the same again is no error
  await ended();
  expect(readFileSync(scene.file("log"), "utf8")).toBe("good\n");
});

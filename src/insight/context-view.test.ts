import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import { DONE, openTestCortex, testTool } from "../../test/support/home.ts";
import { ACTIVE_PROFILE } from "../model/profile.ts";
import { MAIN_SESSION, normalizeSessionKey } from "../model/session-key.ts";
import { describeTurns } from "../runtime/context-sources.ts";
import { contextView, type ContextView, readContext } from "./context-view.ts";
import type { Cortex } from "../runtime/cortex.ts";

const NEVER = new AbortController().signal;
const SCRIPT =
  "- { when: ^work$, plays: [{ calls: [{ tool: Work }] }, { say: worked }] }\n- { when: .*, plays: [{ say: yes }] }";

async function look(cortex: Cortex, { full = false, session = MAIN_SESSION } = {}): Promise<ContextView> {
  const { store, home } = cortex;
  const config = cortex.config();
  const profile = (name: string) =>
    name === ACTIVE_PROFILE ? cortex.model().profile : config.profiles[name]!;
  const sources = { ledger: store, home, config, profile, ...(await describeTurns(config)) };
  return contextView(await readContext(session, sources), { full });
}

async function ask(cortex: Cortex, content: string): Promise<void> {
  const { item } = await cortex.send({ content });
  await cortex.outcome(item, NEVER);
}

function names(view: ContextView, kind: string): string[] {
  return view.parts.filter((part) => part.kind === kind).map(({ name }) => name);
}

function sum(numbers: readonly { readonly tokens: number }[]): number {
  return numbers.reduce((total, { tokens }) => total + tokens, 0);
}

test("every part is told of with its tokens, and they add up", async () => {
  await using cortex = await openTestCortex({ script: SCRIPT });
  const workspace = join(cortex.home, "workspaces", "main");
  mkdirSync(join(workspace, "skills", "pdf"), { recursive: true });
  mkdirSync(join(workspace, "skills", "bad"), { recursive: true });
  writeFileSync(join(workspace, "AGENTS.md"), "Use tabs.");
  writeFileSync(join(workspace, "SOUL.md"), "x".repeat(10_000_000));
  writeFileSync(join(workspace, "skills", "pdf", "SKILL.md"), "---\nname: pdf\ndescription: Forms.\n---\n");
  writeFileSync(join(workspace, "skills", "bad", "SKILL.md"), "no frontmatter");
  await ask(cortex, "one");
  await ask(cortex, "two");

  const view = await look(cortex);
  expect(names(view, "system")).toEqual([
    "AGENTS.md",
    "SOUL.md",
    "identity",
    "rules",
    "sub-agents",
    "tools",
    "skills",
  ]);
  expect(names(view, "tools")).toEqual(expect.arrayContaining(["Read", "Bash", "Skill"]));
  expect(names(view, "history")).toEqual(["one", "two"]);
  expect(view.parts.find(({ name }) => name === "SOUL.md")).toMatchObject({
    tokens: expect.closeTo(5_000, -2),
    note: expect.stringContaining("10000000 bytes"),
  });
  expect(view).toMatchObject({ window: 128_000, profile: "scripted", compactionDue: false });
  expect(view.problems).toMatchObject([
    { path: join(workspace, "skills", "bad", "SKILL.md"), isLeftOut: true },
  ]);
  expect(sum(view.parts)).toBe(view.tokens);
  expect(sum(view.sums)).toBe(view.tokens);
  expect(view.parts.every((part) => !("text" in part))).toBe(true);
  expect((await look(cortex, { full: true })).parts[0]).toMatchObject({ text: "# AGENTS.md\nUse tabs." });
});

test("of a turn under way, what it began with and what it has done is told", async () => {
  const started = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  const tool = testTool("Work", async () => {
    started.resolve();
    await gate.promise;
    return DONE;
  });
  await using cortex = await openTestCortex({ script: SCRIPT }, { tools: [tool] });
  const { item } = await cortex.send({ content: "work" });
  await started.promise;
  const view = await look(cortex);
  expect(names(view, "message")).toEqual(["work", "done so far"]);
  expect(sum(view.parts)).toBe(view.tokens);
  gate.resolve();
  await cortex.outcome(item, NEVER);
  expect(names(await look(cortex), "message")).toEqual([]);
});

test("a thread that is longer than the window is to be compacted", async () => {
  const profiles = {
    defaultProfile: "small",
    profiles: { small: { backend: "offline", contextWindow: 100 } },
  };
  await using cortex = await openTestCortex({ profiles });
  await ask(cortex, "hello");
  expect(await look(cortex)).toMatchObject({ window: 100, compactionDue: true });
});

test("a session that is not there is unknown", async () => {
  await using cortex = await openTestCortex();
  await expect(look(cortex, { session: normalizeSessionKey("nobody") })).rejects.toMatchObject({
    code: "session_unknown",
    hint: "Run `cortex sessions` to list sessions.",
  });
});

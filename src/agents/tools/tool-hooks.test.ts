import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { type TestWorkspace, testWorkspace } from "../../../test/support/tool-context.ts";
import type { Bounds } from "../../model/bounds.ts";
import type { Json } from "../../model/json.ts";
import type { BeforeCall } from "../../model/tool-hook.ts";
import { readProcess } from "../../programs/proc.ts";
import { Supervisor } from "../../programs/supervisor.ts";
import { createToolHooks, MAX_HOOK_OUTPUT, type ToolHookCommand } from "./tool-hooks.ts";

const VARIABLES: Readonly<Record<string, string>> = { CHECK_TOKEN: "t-1" };
const TIMEOUT_MS = 20_000;

interface Played extends Partial<ToolHookCommand> {
  /** A program for `/bin/sh`. */
  readonly script: string;
}

function hooksOf({ context }: TestWorkspace, ...played: readonly Played[]) {
  const logged: string[] = [];
  const commands: ToolHookCommand[] = [];
  for (const [i, { script, ...fields }] of played.entries()) {
    const path = join(context.outputFolder, `hook-${i}.sh`);
    writeFileSync(path, `#!/bin/sh\n${script}\n`);
    chmodSync(path, 0o755);
    commands.push({
      name: `hook ${i}`,
      event: "before",
      isFor: () => true,
      command: `"${path}"`,
      folder: context.outputFolder,
      timeoutMs: TIMEOUT_MS,
      isGuard: true,
      ...fields,
    });
  }
  const hooks = createToolHooks(() => commands, {
    log: (line) => logged.push(line),
    variable: (name) => VARIABLES[name],
  });
  const before = (params: Json): Promise<BeforeCall> => hooks.before({ tool: "Bash", params, context });
  return { hooks, before, logged };
}

const says = (output: Json): string => `cat > /dev/null; cat <<'END'\n${JSON.stringify(output)}\nEND`;
const specific = (fields: { readonly [name: string]: Json }): Json => ({ hookSpecificOutput: fields });

test("a hook is given the call on its standard input, in the words of Claude Code", async () => {
  using workspace = testWorkspace();
  const seen = join(workspace.outside, "seen.json");
  const { before } = hooksOf(workspace, { script: `cat > "${seen}"` });

  expect(await before({ command: "ls; $(touch x)" })).toEqual({
    decision: "allow",
    params: { command: "ls; $(touch x)" },
    notes: [],
  });
  expect(JSON.parse(readFileSync(seen, "utf8"))).toEqual({
    hook_event_name: "PreToolUse",
    session_id: "agent:main:main",
    agent: "main",
    turn: "turn-1",
    cwd: workspace.context.workspace,
    tool_name: "Bash",
    tool_input: { command: "ls; $(touch x)" },
    tool_use_id: "call-1",
  });
});

test.each<[string, string, Partial<BeforeCall>]>([
  ["says nothing", "cat > /dev/null", { decision: "allow" }],
  ["writes words", "echo looks fine", { decision: "allow" }],
  ["allows", says(specific({ permissionDecision: "allow" })), { decision: "allow" }],
  [
    "refuses",
    says(specific({ permissionDecision: "deny", permissionDecisionReason: "not on a Sunday" })),
    { decision: "deny", reason: "not on a Sunday" },
  ],
  [
    "wants a person to decide",
    says(specific({ permissionDecision: "ask", permissionDecisionReason: "it is expensive" })),
    { decision: "ask", reason: "it is expensive" },
  ],
  [
    "changes the input",
    says(specific({ updatedInput: { command: "ls -l" } })),
    { decision: "allow", params: { command: "ls -l" } },
  ],
  ["adds context", says(specific({ additionalContext: "mind the gap" })), { notes: ["mind the gap"] }],
  [
    "refuses in the older form",
    says({ decision: "block", reason: "no" }),
    { decision: "deny", reason: "no" },
  ],
  ["ends with code 2", "echo far too much >&2; exit 2", { decision: "deny", reason: "far too much" }],
])("a hook that %s", async (_, script, expected) => {
  using workspace = testWorkspace();
  const { before, logged } = hooksOf(workspace, { script });

  expect(await before({ command: "ls" })).toMatchObject(expected);
  expect(logged).toEqual([]);
});

test.each<[string, Played, RegExp]>([
  ["fails", { script: "echo oh >&2; exit 3" }, /exited with code 3: oh/],
  ["is killed", { script: "kill -9 $$" }, /exited with (SIGKILL|code 137)/],
  ["takes too long", { script: "exec sleep 60", timeoutMs: 50 }, /timed out after 50 ms/],
  ["answers nonsense", { script: says(specific({ permissionDecision: "perhaps" })) }, /invalid answer/],
  ["never stops talking", { script: `head -c ${MAX_HOOK_OUTPUT + 1} /dev/zero` }, /wrote more than/],
])("a guard that %s lets nothing through, and another hook does no harm", async (_, played, problem) => {
  using workspace = testWorkspace();
  const guard = hooksOf(workspace, played);
  expect(await guard.before({})).toMatchObject({ decision: "deny", reason: expect.stringMatching(problem) });

  const watcher = hooksOf(workspace, { ...played, isGuard: false });
  expect(await watcher.before({})).toMatchObject({ decision: "allow" });
  expect(watcher.logged).toEqual([expect.stringMatching(problem)]);
});

test("hooks are asked in order, each with what the one before has made of the call", async () => {
  using workspace = testWorkspace();
  const { before } = hooksOf(
    workspace,
    { script: says(specific({ updatedInput: { command: "one" }, additionalContext: "first" })) },
    { script: `grep -q '"command":"one"' || exit 2` },
    { script: "exit 2", isFor: (tool) => tool === "Write" },
    { script: "exit 2", event: "after" },
  );

  expect(await before({ command: "zero" })).toEqual({
    decision: "allow",
    params: { command: "one" },
    notes: ["first"],
  });
});

test("after a call, hooks see the result and add to it", async () => {
  using workspace = testWorkspace();
  const { hooks } = hooksOf(workspace, {
    event: "after",
    script: `grep -q '"tool_response":{"text":"done","isError":false}' && echo '{"hookSpecificOutput":{"additionalContext":"seen"}}'`,
  });
  const call = { tool: "Bash", params: {}, context: workspace.context };

  expect(await hooks.after(call, { text: "done" })).toEqual(["seen"]);
});

test("a hook is run in its own folder, not where the agent can put programs", async () => {
  using workspace = testWorkspace();
  writeFileSync(join(workspace.context.workspace, "guard.sh"), "echo 'the agent said so' >&2; exit 2");
  writeFileSync(join(workspace.outside, "guard.sh"), "echo 'the owner said so' >&2; exit 2");
  const { before } = hooksOf(workspace, { script: "", command: "sh guard.sh", folder: workspace.outside });
  expect(await before({})).toMatchObject({ decision: "deny", reason: "the owner said so" });
});

/** As those of a turn. */
function boundsIn(workspace: TestWorkspace, memoryMb: number): Bounds {
  const limits = { memoryMb, processes: 100, cpuSeconds: 60, openFiles: 256, fileMb: 64 };
  const watchCheck = () =>
    new Supervisor(workspace.outside).watch({
      agent: "main",
      limits,
      diskExceeded: async () => undefined,
      memoryFolders: [],
    });
  return { limits, checkDisk: async () => {}, watch: watchCheck, watchCheck };
}

test.runIf(process.platform === "linux")("no process of a hook outlives its call", async () => {
  using workspace = testWorkspace();
  const bounded = { ...workspace, context: { ...workspace.context, bounds: boundsIn(workspace, 512) } };
  const pid = join(workspace.outside, "pid");
  const script = `(setsid sh -c 'echo $$ > "${pid}"; exec sleep 1000' >/dev/null 2>&1 &)\nwhile [ ! -s "${pid}" ]; do :; done`;
  expect(await hooksOf(bounded, { script }).before({})).toMatchObject({ decision: "allow" });
  expect(readProcess(Number(readFileSync(pid, "utf8")))).toBeUndefined();
});

test.runIf(process.platform === "linux")(
  "a hook has the memory of its agent, and fails beyond it",
  async () => {
    using workspace = testWorkspace();
    const bounded = { ...workspace, context: { ...workspace.context, bounds: boundsIn(workspace, 64) } };
    const script = "python3 -c 'import time; kept = bytearray(300 * 1024 * 1024); time.sleep(10)'";
    expect(await hooksOf(bounded, { script }).before({})).toMatchObject({
      decision: "deny",
      reason: expect.stringContaining("more than 64 MB of memory"),
    });
  },
);

/** A workspace for tests of tools: real folders that are gone when the test is. */
import { execFileSync } from "node:child_process";
import { mkdirSync, realpathSync } from "node:fs";
import { join } from "node:path";

import type { AgentId, RunId, TurnId } from "../../src/model/ids.ts";
import type { Json } from "../../src/model/json.ts";
import type { Permissions } from "../../src/model/permissions.ts";
import { normalizeSessionKey } from "../../src/model/session-key.ts";
import type { Tool, ToolContext, ToolResult } from "../../src/model/tool.ts";
import { temporaryFolder } from "./temporary.ts";

/** Whoever has these may do everything. */
export const EVERYTHING: Permissions = {
  tools: { allow: [["*"]], deny: [] },
  ask: [],
  roots: [],
  hosts: [["*"]],
  channels: [["*"]],
  credentials: [],
  spendUsdPerDay: Infinity,
};

export interface TestWorkspace extends Disposable {
  readonly context: ToolContext;
  /** Beside the workspace: what an agent must not reach. */
  readonly outside: string;
}

export function testWorkspace(fields: Partial<ToolContext> = {}): TestWorkspace {
  const folder = temporaryFolder();
  const base = realpathSync(folder.path);
  const [workspace, outputFolder, outside] = ["workspace", "output", "outside"].map((name) =>
    join(base, name),
  );
  for (const path of [workspace!, outputFolder!, outside!]) mkdirSync(path);
  const context: ToolContext = {
    session: normalizeSessionKey("main"),
    agent: "main" as AgentId,
    turn: "turn-1" as TurnId,
    run: "run-1" as RunId,
    epoch: 1,
    callId: "call-1",
    callKey: "turn-1-0",
    workspace: workspace!,
    roots: [],
    readable: [],
    hidden: [],
    reserved: [],
    permissions: EVERYTHING,
    delegable: EVERYTHING,
    outputFolder: outputFolder!,
    environment: { PATH: "/usr/bin:/bin" },
    signal: new AbortController().signal,
    ...fields,
  };
  return { context, outside: outside!, [Symbol.dispose]: () => folder[Symbol.dispose]() };
}

/** What the model is told of a call that is answered at once. */
export async function callTool(tool: Tool, params: Json, context: ToolContext): Promise<ToolResult> {
  const outcome = await tool.run(params, context);
  if (outcome.kind !== "done") throw new Error(`${tool.name} suspended the turn`);
  return outcome.result;
}

/** A named pipe: whoever opens it waits for somebody at the other end. */
export function makePipe(path: string): void {
  execFileSync("/bin/sh", ["-c", 'mkfifo "$0"', path]);
}

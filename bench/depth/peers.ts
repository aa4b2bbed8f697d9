// Runs LangGraph on one growing thread, in a process of its own.

import { join } from "node:path";
import { installPeers } from "../peers/install.ts";
import { runProgram } from "../run-program.ts";
import { buildSlowSync, slowSyncEnvironment } from "../slow-sync.ts";

export type DepthResult = {
  readonly name: string;
  readonly depth: number;
  /** The median of the last ten turns up to this depth. */
  readonly msPerTurn: number;
  /** By how much the database grew with each of these turns. */
  readonly bytesPerTurn: number;
  readonly databaseBytes: number;
  readonly versions: string;
};

export type LanggraphOptions = {
  readonly depths: readonly number[];
  readonly syncUs: number;
  /** LangGraph's default is the whole list in every checkpoint; "delta" is its experimental remedy. */
  readonly messages?: "full" | "delta";
  /** LangGraph's default is "async", a checkpoint of every step; "exit" keeps one of every turn. */
  readonly durability?: "async" | "exit" | "sync";
};

/** One result for each depth that was reached in time, or undefined where LangGraph cannot run here. */
export async function runLanggraph(options: LanggraphOptions): Promise<DepthResult[] | undefined> {
  const { depths, syncUs, messages = "full", durability = "async" } = options;
  const library = buildSlowSync();
  if (library === undefined || !installPeers()) return undefined;
  const program = {
    script: join(import.meta.dirname, "..", "peers", "langgraph.mjs"),
    args: ["--depths", depths.join(","), "--messages", messages, "--durability", durability],
    env: {
      ...slowSyncEnvironment(library, syncUs),
      // A developer's own settings would make every turn report to a tracing service.
      LANGSMITH_TRACING: "false",
      LANGCHAIN_TRACING_V2: "false",
    },
  };
  return runProgram(program, isDepthResult);
}

function isDepthResult(value: unknown): value is DepthResult {
  return typeof value === "object" && value !== null && "bytesPerTurn" in value;
}

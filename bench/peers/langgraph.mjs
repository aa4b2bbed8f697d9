// LangGraph with its SqliteSaver on one growing thread: a user message of 430 bytes and a reply of
// 430 bytes in every turn. Prints one line of JSON for each depth asked for with `--depths`.
//
// The graph has one node, which answers at once, so what is timed is LangGraph and its saver. The
// time is the median, the size the mean, of the last ten turns up to that depth. SqliteSaver runs
// SQLite in WAL mode with synchronous = NORMAL, which may lose the last commits in a power cut.
//
// Two settings of LangGraph's own change the outcome, so both can be given:
//
//   --durability  "async", its default, keeps a checkpoint of every step, "exit" one of every turn.
//   --messages    "full", its default, puts the whole list of messages into every checkpoint.
//                 "delta" is its experimental MessagesDeltaValue, which keeps what was added and
//                 replays it on every read.

import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { END, MessagesDeltaValue, MessagesValue, START, StateGraph, StateSchema } from "@langchain/langgraph";
import { SqliteSaver } from "@langchain/langgraph-checkpoint-sqlite";
import { openMemoryFolder } from "../slow-sync.ts";
import manifest from "./package.json" with { type: "json" };

const window = 10;
const capMs = 60_000;
const stopAtMs = performance.now() + capMs;

const { values } = parseArgs({
  options: {
    depths: { type: "string", default: "10,100,300" },
    durability: { type: "string", default: "async" },
    messages: { type: "string", default: "full" },
  },
});
const depths = values.depths.split(",").map(Number);
const settings = [
  ...(values.messages === "full" ? [] : [`messages ${values.messages}`]),
  ...(values.durability === "async" ? [] : [`durability ${values.durability}`]),
];

// The folder is removed on exit, and a signal alone would skip that.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.once(signal, () => process.exit(1));

const saver = SqliteSaver.fromConnString(join(openMemoryFolder("langgraph"), "thread.db"));
const state = new StateSchema({ messages: values.messages === "delta" ? MessagesDeltaValue : MessagesValue });
const graph = new StateGraph(state)
  .addNode("reply", () => ({ messages: [new AIMessage(randomText())] }))
  .addEdge(START, "reply")
  .addEdge("reply", END)
  .compile({ checkpointer: saver });
const config = { configurable: { thread_id: "main" }, durability: values.durability };

const timesMs = [];
const sizes = [];
for (let depth = 1; depth <= Math.max(...depths); depth++) {
  if (performance.now() > stopAtMs) {
    console.error(`Stopped at depth ${depth} after ${capMs / 1000} s`);
    break;
  }
  sizes.push(databaseBytes());
  const startedAtMs = performance.now();
  const { messages } = await graph.invoke({ messages: [new HumanMessage(randomText())] }, config);
  timesMs.push(performance.now() - startedAtMs);
  if (messages.length !== 2 * depth) throw new Error(`${messages.length} messages at depth ${depth}`);
  if (depths.includes(depth)) print(depth);
}

function print(depth) {
  const last = timesMs.slice(-window).sort((a, b) => a - b);
  const bytes = databaseBytes();
  const line = {
    name: ["langgraph", ...settings].join(", "),
    depth,
    msPerTurn: Number(last[Math.floor(last.length / 2)].toFixed(2)),
    bytesPerTurn: Math.round((bytes - sizes.at(-last.length)) / last.length),
    databaseBytes: bytes,
    versions: `LangGraph ${manifest.dependencies["@langchain/langgraph"]}, SqliteSaver ${manifest.dependencies["@langchain/langgraph-checkpoint-sqlite"]}`,
  };
  console.log(JSON.stringify(line));
}

function databaseBytes() {
  return saver.db.pragma("page_count", { simple: true }) * saver.db.pragma("page_size", { simple: true });
}

/** 430 bytes of text that does not compress. */
function randomText() {
  return randomBytes(323).toString("base64").slice(0, 430);
}

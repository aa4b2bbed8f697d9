/**
 * A process in which hooks run, many of them. It keeps nothing that matters: it may be ended at any moment, and is
 * when one of its hooks does not give way, takes too much memory or ends it itself.
 */
import { AsyncLocalStorage } from "node:async_hooks";

import { MAX_HOOK_RESULT_BYTES } from "../../store/store.ts";
import { useTimezone } from "../cron-matches.ts";
import { describeFailure } from "./describe-failure.ts";
import { startGuard } from "./guard.ts";
import type { HookContext } from "../hook.ts";
import { inspectHook } from "./inspect-hook.ts";
import { type LoadedHook, loadHook } from "./load-hook.ts";
import { resolveImportsIn } from "./resolve-imports.ts";
import type { Ask, FromLane, HookSource, LaneData, ServiceCall, ToLane } from "./lane-protocol.ts";

const { folder, dbPath, guard } = JSON.parse(process.argv[2]!) as LaneData;
const post = process.send!.bind(process);
const loaded = new Map<string, Promise<LoadedHook>>();
const calls = new Map<number, AbortController>();
const requests = new Map<number, PromiseWithResolvers<unknown>>();
/** Whose work is being done: what fails later is told of under its name. */
const asked = new AsyncLocalStorage<{ readonly name: string; readonly call: number }>();
let lastRequest = 0;
let replies: FromLane[] = [];

// What hooks import may talk to whoever started a process, where there is somebody; this line is ours.
delete process.send;
resolveImportsIn(folder);
process.on("unhandledRejection", reportLate);
process.on("uncaughtException", reportLate);
process.on("disconnect", () => process.exit()); // whoever asked is gone
// They are meant for Cortex, which ends this process when it is done; a terminal sends them to both.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => {});
process.on("message", receive);
const tellGuard = startGuard(guard);
post([{ kind: "ready" }]);

function receive(message: ToLane): void {
  if ("timezone" in message) useTimezone(message.timezone);
  switch (message.kind) {
    case "judge":
      for (const ask of message.asks) void answer(ask.call, ask.source, () => judge(ask, message));
      return;
    case "inspect":
      void answer(message.call, message.source, async () =>
        inspectHook((await load(message.source)).exported),
      );
      return;
    case "abort":
      calls.get(message.call)?.abort(new Error("The time of the hook is over"));
      close(message.call);
      return;
    case "answer":
      take(message.request)?.resolve(message.value);
      return;
    case "refusal":
      take(message.request)?.reject(new Error(message.message));
      return;
    case "ping":
      post([{ kind: "pong" }]); // at once: a hook may be about to take long
  }
}

/** Does what a call asks for and tells how it went, once. */
async function answer(call: number, source: HookSource, work: () => Promise<unknown>): Promise<void> {
  calls.set(call, new AbortController());
  tellGuard(calls.size);
  try {
    const json = toJson(await asked.run({ name: source.name, call }, work));
    if (close(call)) send({ kind: "done", call, json });
  } catch (error) {
    if (close(call)) send({ kind: "failed", call, error: describeFailure(error, folder) });
  }
}

/** False: it was over before. */
function close(call: number): boolean {
  const wasOpen = calls.delete(call);
  tellGuard(calls.size);
  return wasOpen;
}

async function judge(
  { call, source, self, missedMs }: Ask,
  { event, nowMs }: Pick<Judging, "event" | "nowMs">,
): Promise<unknown> {
  const { handler, config } = await load(source);
  const ctx: HookContext = {
    event,
    dbPath,
    query: (sql, params = []) => request(call, { kind: "query", sql, params }) as Promise<never>,
    search: (text, options = {}) => request(call, { kind: "search", text, options }) as Promise<never>,
    llm: (prompt, options = {}) => request(call, { kind: "llm", prompt, options }) as Promise<never>,
    now: new Date(nowMs),
    missed: missedMs === undefined ? null : new Date(missedMs),
    hook: { ...self, config },
    signal: calls.get(call)!.signal,
  };
  return handler(ctx);
}

type Judging = Extract<ToLane, { kind: "judge" }>;

function load({ path }: HookSource): Promise<LoadedHook> {
  const known = loaded.get(path) ?? loadHook(path);
  loaded.set(path, known);
  return known;
}

function request(call: number, service: ServiceCall): Promise<unknown> {
  const id = ++lastRequest;
  const answered = Promise.withResolvers<unknown>();
  requests.set(id, answered);
  try {
    post([{ kind: "request", call, request: id, service }]);
  } catch (error) {
    take(id)!.reject(error); // an argument that is a function, say
  }
  return answered.promise;
}

function take(id: number): PromiseWithResolvers<unknown> | undefined {
  const waiting = requests.get(id);
  requests.delete(id);
  return waiting;
}

function toJson(value: unknown): string | undefined {
  const json = JSON.stringify(value) as string | undefined;
  if (json === undefined || json.length <= MAX_HOOK_RESULT_BYTES) return json;
  throw new Error(`What it returned has ${json.length} characters, ${MAX_HOOK_RESULT_BYTES} are allowed`);
}

/** Many hooks end in the same moment, and are told of together. */
function send(reply: FromLane): void {
  if (replies.push(reply) > 1) return;
  setImmediate(() => {
    post(replies);
    replies = [];
  });
}

/** A call that is still open has failed by this; of one that is over, only the owner can be told. */
function reportLate(reason: unknown): void {
  const error = describeFailure(reason, folder);
  const { name, call } = asked.getStore() ?? {};
  if (call !== undefined && close(call)) send({ kind: "failed", call, error });
  else send({ kind: "late", hook: name, error });
}

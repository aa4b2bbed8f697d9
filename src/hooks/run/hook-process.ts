/**
 * A process that runs many hooks. It has no state that matters and can be killed at any time, for example when a hook blocks
 * it or uses too much memory.
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
/** The current hook and call, so that late failures can be attributed. */
const asked = new AsyncLocalStorage<{ readonly name: string; readonly call: number }>();
let lastRequest = 0;
let replies: FromLane[] = [];

// Modules that hooks import may try to message a parent process; this channel is ours.
delete process.send;
resolveImportsIn(folder);
process.on("unhandledRejection", reportLate);
process.on("uncaughtException", reportLate);
process.on("disconnect", () => process.exit()); // the parent is gone
// A terminal sends signals to both processes. Cortex ends this one when it is done.
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
      calls.get(message.call)?.abort(new Error("The hook timed out"));
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

/** Carries out a call and reports its outcome, once. */
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

/** False: it was already closed. */
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
    take(id)?.reject(error); // for example, a function as an argument
  }
  return answered.promise;
}

function take(id: number): PromiseWithResolvers<unknown> | undefined {
  const waiting = requests.get(id);
  requests.delete(id);
  return waiting;
}

function toJson(value: unknown): string | undefined {
  const json: string | undefined = JSON.stringify(value);
  if (json === undefined || json.length <= MAX_HOOK_RESULT_BYTES) return json;
  throw new Error(`Its result has ${json.length} characters (limit ${MAX_HOOK_RESULT_BYTES})`);
}

/** Many hooks finish at the same time, so replies are sent in batches. */
function send(reply: FromLane): void {
  if (replies.push(reply) > 1) return;
  setImmediate(() => {
    post(replies);
    replies = [];
  });
}

/** Fails the call if it is still open; otherwise only the owner is told. */
function reportLate(reason: unknown): void {
  const error = describeFailure(reason, folder);
  const { name, call } = asked.getStore() ?? {};
  if (call !== undefined && close(call)) send({ kind: "failed", call, error });
  else send({ kind: "late", hook: name, error });
}

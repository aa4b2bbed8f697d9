/** Dry runs: what a hook would say to an event. Nothing is recorded and nothing is done. */
import { type Incoming, toOwnEvent } from "../../events/incoming.ts";
import type { Ports } from "../../feature/ports.ts";
import { CortexError, errorText } from "../../model/errors.ts";
import type { EventId } from "../../model/ids.ts";
import type { Json } from "../../model/json.ts";
import { principalOfEvent } from "../../personas/authority.ts";
import type { NewEvent, Store, StoredEvent, StoredHook } from "../../store/store.ts";
import { toHookEvent } from "../hook-event.ts";
import { hookUnknown } from "../hook-name.ts";
import type { HookPool } from "../run/pool.ts";
import type { Catalogue, ReadyHook } from "./catalogue.ts";
import { matchPatterns, passes } from "./filter.ts";
import { toAsk } from "./judge.ts";
import { normaliseResult } from "./normalise-result.ts";

export interface HookTrial {
  readonly hook: string;
  /** False: the event does not pass its filter, and the hook was not asked. */
  readonly matches: boolean;
  readonly fired: boolean;
  /** Normalised, as results are recorded. */
  readonly result: Json;
  readonly error: string | null;
  readonly llmCalls: number;
  readonly costUsd: number | null;
  readonly durationMs: number;
}

/** Asks a hook about an event of the ledger or a synthetic one. Throws `hook_unknown`, `hook_failed`, `event_unknown`. */
export async function tryHook(
  name: string,
  given: EventId | Incoming,
  { catalogue, pool }: { readonly catalogue: Catalogue; readonly pool: HookPool },
  { store, settings, clock }: Pick<Ports, "store" | "settings" | "clock">,
): Promise<HookTrial> {
  const [hook, event] = await Promise.all([
    findHook(name, catalogue, store),
    findEvent(given, store, clock()),
  ]);
  const { timezone } = settings.config();
  const trial = { hook: name, matches: true, fired: false, result: null, error: null };
  const free = { llmCalls: 0, costUsd: 0, durationMs: 0 };
  const { createdAtMs } = hook.stored;
  const [match = false] = passes(hook.filter, event, { timezone, createdAtMs })
    ? await matchPatterns([hook.filter], event)
    : [];
  if (match === false) return { ...trial, matches: false, ...free };
  if (match !== true) return { ...trial, error: match.message, ...free };
  const nowMs = event.channel === "timer" ? event.atMs : clock();
  const [asked] = pool.judge(toHookEvent(event, undefined), nowMs, [toAsk(hook, event, timezone)]);
  const { value, error, llmCalls, costUsd, startedAtMs, endedAtMs } = await asked!;
  const cost = { llmCalls, costUsd, durationMs: endedAtMs - startedAtMs };
  if (error !== undefined) return { ...trial, error, ...cost };
  try {
    const verdict = normaliseResult(value);
    return { ...trial, fired: verdict.fire, result: verdict, ...cost };
  } catch (problem) {
    return { ...trial, error: errorText(problem), ...cost };
  }
}

async function findHook(name: string, catalogue: Catalogue, store: Store): Promise<ReadyHook> {
  const hook = await catalogue.find(name);
  if (hook !== undefined) return hook;
  const stored = await store.hooks.get(name);
  if (stored === undefined) throw hookUnknown(name);
  throw notLoaded(stored);
}

function notLoaded({ name, present, origin, enabled, error = "it is not loaded" }: StoredHook): CortexError {
  if (!present) return cannotRun(name, "its file is gone", "Restore its file in hooks/, then retry.");
  if (origin === "agent" && !enabled) {
    const hint = `Run \`cortex hooks show ${name}\`, then \`cortex hooks enable ${name}\`, and retry.`;
    return cannotRun(name, "written by an agent and disabled", hint);
  }
  return cannotRun(name, error, "Fix its file in hooks/, then retry.");
}

function cannotRun(name: string, why: string, hint: string): CortexError {
  return new CortexError("hook_failed", `Hook ${name} cannot run: ${why}`, { hint });
}

async function asStored(event: NewEvent, { people }: Store, nowMs: number): Promise<StoredEvent> {
  const principal = event.principal ?? (await principalOfEvent(event, people));
  return { ...event, principal, receivedAtMs: nowMs, differing: 0, depth: 0, returned: 0 };
}

async function findEvent(given: EventId | Incoming, store: Store, nowMs: number): Promise<StoredEvent> {
  if (typeof given !== "string") return asStored(toOwnEvent(given), store, nowMs);
  const event = await store.events.get(given);
  if (event !== undefined) return event;
  throw new CortexError("event_unknown", `Unknown event "${given}"`, {
    hint: "Run `cortex events` to list events.",
  });
}

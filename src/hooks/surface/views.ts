/** The JSON forms of hooks and their runs, for the HTTP API and `--json`. */
import type { HookHealth, HookRun, Ledger, StoredHook } from "../../store/store.ts";
import { isoTime } from "../../feature/views.ts";

export type HookView = ReturnType<typeof hookView>;
export type HookRunView = ReturnType<typeof hookRunView>;

/** All hooks with their health, by name. */
export async function readHooks(ledger: Pick<Ledger, "hooks">): Promise<HookView[]> {
  const hooks = await ledger.hooks.list();
  return Promise.all(hooks.map(async (hook) => hookView(hook, await ledger.hooks.health(hook.name))));
}

export function hookView(hook: StoredHook, health: HookHealth) {
  return {
    name: hook.name,
    title: hook.title,
    description: hook.description,
    mode: hook.mode,
    status: hook.state,
    enabled: hook.enabled,
    present: hook.present,
    origin: hook.origin,
    error: hook.error ?? null,
    filter: hook.filter ?? null,
    triggers: hook.triggers,
    triggeredAt: timeOrNull(hook.triggeredAtMs),
    lastRunAt: timeOrNull(hook.lastRunAtMs),
    openedAt: timeOrNull(hook.openedAtMs),
    createdAt: isoTime(hook.createdAtMs),
    health: { ...health, p95Ms: health.p95Ms ?? null },
  };
}

export function hookRunView(run: HookRun) {
  return {
    hook: run.hook,
    eventId: run.event,
    fired: run.fired,
    exclusive: run.exclusive,
    result: run.result ?? null,
    error: run.error ?? null,
    skipped: skippedOf(run),
    llmCalls: run.llmCalls,
    costUsd: run.costUsd,
    startedAt: isoTime(run.startedAtMs),
    durationMs: run.endedAtMs - run.startedAtMs,
  };
}

/** Why a scheduled time passed without the hook, where one did. */
function skippedOf({ result }: HookRun): string | null {
  const skipped = (result as { readonly skipped?: unknown } | null | undefined)?.skipped;
  return typeof skipped === "string" ? skipped : null;
}

function timeOrNull(ms: number | undefined): string | null {
  return ms === undefined ? null : isoTime(ms);
}

/** Hooks as simple as they can be said: which there are, what they have judged, and what is still to be judged. */
import { strictEqual } from "node:assert";

import type { HookFile, HookState, Recorded } from "../../src/store/store.ts";
import type { Operation } from "./operation.ts";

interface ModelHook {
  readonly name: string;
  mode: HookFile["mode"];
  digest: string;
  enabled: boolean;
  present: boolean;
  loadError: string | undefined;
  failures: number;
  openedMs: number | undefined;
  triggers: number;
}

interface ModelHookRun {
  readonly hook: string;
  readonly event: string;
  readonly fired: boolean;
  readonly error: string | undefined;
}

type Judgement = Pick<Extract<Operation, { kind: "recordHookRun" }>, "name" | "hook" | "error" | "disable">;

/** The code of a refusal. */
type Refusal = string | undefined;

export class ModelHooks {
  readonly hooks = new Map<string, ModelHook>();
  readonly runs = new Map<string, ModelHookRun>();
  /** In the order in which they came in. */
  readonly unjudged = new Set<string>();

  sync(found: readonly HookFile[]): void {
    for (const hook of this.hooks.values()) hook.present = false;
    for (const { name, mode, digest, origin, startsDisabled, error: loadError } of found) {
      const known = this.hooks.get(name);
      const rest = { mode, digest, loadError, present: true };
      const isNew = known?.digest !== digest;
      if (known === undefined) {
        const enabled = startsDisabled !== true && origin !== "agent";
        const none = { failures: 0, openedMs: undefined, triggers: 0 };
        this.hooks.set(name, { name, ...rest, enabled, ...none });
      } else {
        Object.assign(known, rest);
        if (isNew && origin === "agent") known.enabled = false;
        if (isNew) Object.assign(known, { failures: 0, openedMs: undefined });
      }
    }
  }

  setEnabled(name: string, enabled: boolean): Refusal {
    const hook = this.hooks.get(name);
    if (hook === undefined) return "hook_unknown";
    hook.enabled = enabled;
    if (enabled) Object.assign(hook, { failures: 0, openedMs: undefined });
    return undefined;
  }

  /** Whether a firing would be one: it is the first word of this hook on the event, and the hook is enabled. */
  fires(name: string, hook: string): boolean {
    return this.hooks.get(hook)!.enabled && !this.runs.has(`${name}/${hook}`);
  }

  record(judgement: Judgement, asksToFire: boolean, nowMs: number, value: Recorded | undefined): void {
    const { name, error, disable } = judgement;
    const hook = this.hooks.get(judgement.hook)!;
    const key = `${name}/${hook.name}`;
    const before = this.runs.get(key);
    const fired = before?.fired ?? (asksToFire && hook.enabled);
    if (before === undefined) {
      this.runs.set(key, { hook: hook.name, event: name, fired, error });
      if (fired) hook.triggers++;
      hook.failures = error === undefined ? 0 : hook.failures + 1;
      hook.openedMs = hook.failures >= 5 ? nowMs : undefined;
      if (disable || (fired && hook.mode === "one-shot")) hook.enabled = false;
    }
    if (value === undefined) return;
    strictEqual(value.fresh, before === undefined);
    strictEqual(value.fired, fired);
    strictEqual(value.state, hookState(hook));
  }
}

export function hookState({ enabled, present, loadError, openedMs }: ModelHook): HookState {
  if (!enabled || !present) return "disabled";
  if (loadError !== undefined) return "errored";
  return openedMs === undefined ? "active" : "open";
}

/** Delegations as simple as they can be said: which there are, how they stand, and whether anybody was told. */
import type { DelegationState, NewDelegation } from "../../src/store/store.ts";
import type { ModelItem } from "./model-item.ts";

export interface ModelDelegation {
  readonly id: string;
  readonly caller: string;
  readonly callerTurn: string;
  readonly ordinal: number;
  readonly session: string;
  readonly item: ModelItem;
  readonly waits: boolean;
  readonly deadlineMs: number | undefined;
  state: DelegationState;
  endedMs: number | undefined;
  reported: boolean;
}

export class ModelDelegations {
  readonly all = new Map<string, ModelDelegation>();

  begin(
    { id, turn, ordinal, waits, deadlineMs }: NewDelegation,
    { caller, session, item }: { caller: string; session: string; item: ModelItem },
  ): void {
    const of = { caller, callerTurn: turn, ordinal, session, item };
    const open = { state: "open", endedMs: undefined, reported: false } as const;
    this.all.set(id, { id, ...of, waits, deadlineMs, ...open });
  }

  /** Ends those whose message is settled: nothing else has to think of them. */
  settle(statusOf: (turn: string) => "completed" | "aborted", nowMs: number): void {
    for (const delegation of this.open()) {
      const { state, turn } = delegation.item;
      if (state === "queued" || state === "claimed") continue;
      const status = state === "done" || state === "merged" ? statusOf(turn!) : undefined;
      if (status !== undefined) delegation.state = status === "completed" ? "done" : "aborted";
      else delegation.state = state === "dead" ? "failed" : "dropped";
      delegation.endedMs = nowMs;
    }
  }

  open(): ModelDelegation[] {
    return [...this.all.values()].filter(({ state }) => state === "open");
  }

  /** What `delegations.unreported` must find. */
  unreported(): ModelDelegation[] {
    const over = [...this.all.values()].filter(({ state, reported }) => isOver(state) && !reported);
    return over.toSorted((a, b) => a.endedMs! - b.endedMs!);
  }

  /** What `delegations.nextDeadlineMs` must say. */
  nextDeadlineMs(): number | undefined {
    const moments = this.open().flatMap(({ deadlineMs }) => deadlineMs ?? []);
    return moments.length === 0 ? undefined : Math.min(...moments);
  }

  late(nowMs: number): ModelDelegation[] {
    return this.open().filter(({ deadlineMs = Infinity }) => deadlineMs <= nowMs);
  }

  /** Whether somebody is told how it ends. */
  isGiven(item: ModelItem): boolean {
    return [...this.all.values()].some((delegation) => delegation.item === item);
  }

  /** Whether a turn waits for something, and was told of all of it. */
  isTold(turn: string, isAnswered: (ordinal: number) => boolean): boolean {
    const awaited = [...this.all.values()].filter(
      ({ callerTurn, waits, ordinal }) => callerTurn === turn && waits && !isAnswered(ordinal),
    );
    return awaited.length > 0 && awaited.every(({ state, reported }) => reported || state === "cancelled");
  }
}

function isOver(state: DelegationState): boolean {
  return state !== "open" && state !== "cancelled";
}

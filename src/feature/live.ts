/**
 * Changes as they happen. They are read from the store, so a reader that reconnects continues where it was. The deltas
 * of an unfinished answer exist only here.
 */
import type { Delta } from "../agents/agent.ts";
import type { RunId, TurnId } from "../model/ids.ts";
import type { SessionKey } from "../model/session-key.ts";
import type { Change, Claim, Store } from "../store/store.ts";

export type LiveEntry =
  | { readonly kind: "change"; readonly change: Change }
  | {
      readonly kind: "delta";
      readonly session: SessionKey;
      readonly turn: TurnId;
      readonly run: RunId;
      readonly atMs: number;
      readonly delta: Delta;
    }
  /** Something outside the ledger changed. */
  | { readonly kind: "notice"; readonly type: NoticeType; readonly atMs: number }
  /** Changes that the reader has not seen are no longer kept: it must reload everything. */
  | { readonly kind: "gap" };

/** access.changed: tokens were revoked or replaced; readers look at once whether they may read on. */
type NoticeType = "access.changed" | "config.changed" | "team.changed";

export interface LiveOptions {
  /** The last change that the reader saw. Absent: from now on. */
  readonly since?: number;
  readonly signal: AbortSignal;
}

/** Follows what agents write, in this process. Called for every delta: it must return at once. */
export interface Follower {
  wrote(claim: Claim, text: string): void;
  /** A message is complete, and was not the answer: what is written next belongs to another. */
  finished(claim: Claim): void;
}

/** Deltas are combined for this long, so that a fast model does not cause thousands of messages. */
const COALESCE_MS = 50;
const CHANGES_AT_ONCE = 200;
/** A slow reader loses deltas, never changes. */
export const MAX_WAITING_DELTAS = 1_000;
/** Wake-ups can be lost. */
const POLL_MS = 1_000;

type DeltaEntry = Extract<LiveEntry, { kind: "delta" }>;
type Passing = Extract<LiveEntry, { kind: "delta" | "notice" }>;

export class Live implements Disposable {
  readonly #store: Store;
  readonly #clock: () => number;
  readonly #readers = new Set<(entry: Passing) => void>();
  readonly #followers = new Set<Follower>();
  readonly #gathered = new Map<string, DeltaEntry>();
  readonly #closing = new AbortController();
  #isFlushing = false;

  constructor(store: Store, clock: () => number) {
    this.#store = store;
    this.#clock = clock;
  }

  /** Passes a delta of an answer on to readers, if there are any. */
  tell(claim: Claim, delta: Delta): void {
    const { lease, turn, run } = claim;
    if (delta.kind === "text") for (const follower of this.#followers) follower.wrote(claim, delta.text);
    if (this.#readers.size === 0) return;
    const key = `${run}/${delta.kind}`;
    const before = this.#gathered.get(key)?.delta.text ?? "";
    const { session } = lease;
    const whole = { kind: delta.kind, text: before + delta.text };
    this.#gathered.set(key, { kind: "delta", session, turn, run, atMs: this.#clock(), delta: whole });
    if (this.#isFlushing) return;
    this.#isFlushing = true;
    setTimeout(() => this.#tellReaders(), COALESCE_MS);
  }

  /** A message that is not the answer is complete. */
  finished(claim: Claim): void {
    for (const follower of this.#followers) follower.finished(claim);
  }

  /** Returns a function that ends it. */
  follow(follower: Follower): () => void {
    this.#followers.add(follower);
    return () => void this.#followers.delete(follower);
  }

  announce(type: NoticeType): void {
    for (const reader of this.#readers) reader({ kind: "notice", type, atMs: this.#clock() });
  }

  /** Ends all reading. */
  [Symbol.dispose](): void {
    this.#closing.abort();
  }

  /** Reads until the signal aborts or Cortex stops. */
  async *read({ since, signal }: LiveOptions): AsyncGenerator<readonly LiveEntry[]> {
    const end = AbortSignal.any([signal, this.#closing.signal]);
    if (end.aborted) return;
    let seen = since ?? (await this.#store.changes.last());
    let passing: Passing[] = [];
    const bell = new Bell();
    const onPassing = (entry: Passing): void => {
      if (entry.kind !== "delta" || passing.length < MAX_WAITING_DELTAS) passing.push(entry);
      bell.ring();
    };
    this.#readers.add(onPassing);
    const unlisten = this.#store.onWake("changes", bell.ring);
    const poll = setInterval(bell.ring, POLL_MS).unref();
    end.addEventListener("abort", bell.ring);
    try {
      while (!end.aborted) {
        const rung = bell.next();
        const { changes, seq, gap } = await this.#store.changes.since(seen, { limit: CHANGES_AT_ONCE });
        if (changes.length > 0) this.#tellReaders(); // the deltas of an answer come before its end
        const more = seq - seen >= CHANGES_AT_ONCE;
        seen = seq;
        const entries: LiveEntry[] = [
          ...passing,
          ...changes.map((change) => ({ kind: "change", change }) as const),
        ];
        passing = [];
        if (gap) entries.unshift({ kind: "gap" });
        if (entries.length > 0) yield entries;
        if (!more) await rung;
      }
    } finally {
      this.#readers.delete(onPassing);
      unlisten();
      clearInterval(poll);
      end.removeEventListener("abort", bell.ring);
    }
  }

  #tellReaders(): void {
    this.#isFlushing = false;
    const entries = [...this.#gathered.values()];
    this.#gathered.clear();
    for (const entry of entries) for (const reader of this.#readers) reader(entry);
  }
}

/**
 * Wakes one waiting loop. A ring while the loop works is not lost: it takes the promise before it looks for something
 * to do, and waits only if it found nothing.
 */
export class Bell {
  #next = Promise.withResolvers<void>();

  /** Resolves with the first ring from now on. */
  next(): Promise<void> {
    this.#next = Promise.withResolvers<void>();
    return this.#next.promise;
  }

  readonly ring = (): void => {
    this.#next.resolve();
  };
}

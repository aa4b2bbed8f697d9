/**
 * What a run writes down while it works, in the order in which it happens.
 *
 * A turn that makes no tool call writes nothing before it is committed: until then, nothing has happened
 * that cannot simply be done again. With the first thing that must not be repeated, the query and what the
 * run was started with go into the journal too.
 */
import type { Json } from "../model/json.ts";
import type { CallBlock, Message, ToolCall, ToolStatus } from "../model/message.ts";
import type { ToolResult } from "../model/tool.ts";
import type { Claim, JournalEntry, QueueItem, Store, Wait } from "../store/store.ts";
import type { Worked } from "./limits.ts";

/** What a run was started with. The runs after a crash or a wait go on with the same. */
export interface Pinned {
  readonly system: string;
  readonly tools: readonly string[];
  readonly profile: string;
  /** Why the run has another profile than that one. Null: it has that one. */
  readonly fallback?: string | null;
  /** The calls that have waited for an answer from elsewhere. */
  readonly waiting?: readonly Suspension[];
  /** The one thing here that each run writes anew. */
  readonly worked?: Worked;
}

/** A call that the turn has to wait for. */
export interface Suspension {
  readonly ordinal: number;
  readonly callId: string;
  readonly kind: Wait["kind"];
  readonly detail: Json;
}

/** An item as it was read when its message was made. */
type ReadItem = Pick<QueueItem, "id" | "dispatches">;

export class TurnJournal {
  readonly #store: Store;
  readonly #claim: Claim;
  #pinned: Pinned;
  /** Whether that is in the store. */
  #isPinned = false;
  readonly #messages: Message[];
  readonly #calls: ToolCall[];
  /** How many of the messages are in the store. */
  #written: number;

  constructor(parts: {
    readonly store: Store;
    readonly claim: Claim;
    readonly pinned: Pinned;
    /** What the journal held, or the query of a turn that has none yet. */
    readonly messages: readonly Message[];
    readonly toolCalls: readonly ToolCall[];
    /** How many of the messages the journal held. */
    readonly written: number;
  }) {
    this.#store = parts.store;
    this.#claim = parts.claim;
    this.#pinned = parts.pinned;
    this.#messages = [...parts.messages];
    this.#calls = [...parts.toolCalls];
    this.#written = parts.written;
  }

  get messages(): readonly Message[] {
    return this.#messages;
  }

  get toolCalls(): readonly ToolCall[] {
    return this.#calls;
  }

  /** Whether there is anything of it in the store. */
  get isBegun(): boolean {
    return this.#written > 0;
  }

  /** Those that a commit has to bring along. */
  get unwritten(): readonly Message[] {
    return this.#messages.slice(this.#written);
  }

  /** The call at this place, where it has waited for an answer from elsewhere and has none. */
  waitingCall(ordinal: number): Suspension | undefined {
    return this.#pinned.waiting?.findLast((call) => call.ordinal === ordinal);
  }

  /** Keeps what the run was started with before anything has happened in it. */
  async pin(): Promise<void> {
    const { lease, run } = this.#claim;
    await this.#store.runs.pin(lease, run, this.#pinned as unknown as Json);
    this.#isPinned = true;
  }

  /** Says that a call waits: whoever takes the turn up again must neither make it anew nor give it up. */
  async addWaiting(call: Suspension): Promise<void> {
    this.#pinned = { ...this.#pinned, waiting: [...(this.#pinned.waiting ?? []), call] };
    await this.pin();
  }

  /** Writes the query of a turn down before it begins, each message with the items that it brings along. */
  async begin(query: readonly Message[], items: readonly (readonly ReadItem[])[]): Promise<void> {
    await this.#write(query.map((message, place) => messageEntry(place, message, items[place])));
    this.#messages.splice(0, Infinity, ...query);
    this.#written = query.length;
  }

  /** Writes messages down. Those that come from queue items make the items part of the turn. */
  async addMessages(messages: readonly Message[], items: readonly ReadItem[] = []): Promise<void> {
    const before = this.unwritten;
    const first = this.#written;
    const entries = [...before, ...messages].map((message, i) => {
      const item = items[i - before.length];
      return messageEntry(first + i, message, item === undefined ? [] : [item]);
    });
    await this.#write(entries);
    this.#messages.push(...messages);
    this.#written = this.#messages.length;
  }

  async #write(entries: readonly JournalEntry[]): Promise<void> {
    const { lease, run } = this.#claim;
    // Both leave in one batch: either both are kept or, after a crash, the journal is the shorter one.
    await Promise.all([
      this.#isPinned ? undefined : this.#store.runs.pin(lease, run, this.#pinned as unknown as Json),
      this.#store.runs.journal(lease, run, entries),
    ]);
    this.#isPinned = true;
  }

  /** Says that a call is about to be made. */
  async startCall(call: CallBlock, ordinal: number, startedAtMs: number): Promise<void> {
    const intent = { ordinal, callId: call.id, tool: call.name, params: call.arguments, startedAtMs };
    await this.#write([{ kind: "call", ...intent }]);
    this.#calls[ordinal] = { ...intent, status: "started" };
  }

  /** Says how a call ended. One that was never begun is given its intent in the same write. */
  async finishCall(
    call: CallBlock,
    ordinal: number,
    outcome: {
      readonly status: Exclude<ToolStatus, "started">;
      readonly result: ToolResult;
      readonly atMs: number;
    },
  ): Promise<ToolCall> {
    const { status, atMs } = outcome;
    const { childSession, ...told } = outcome.result;
    const result = told as unknown as Json;
    const child = childSession === undefined ? {} : { childSession };
    const begun = this.#calls[ordinal];
    const intent = { ordinal, callId: call.id, tool: call.name, params: call.arguments, startedAtMs: atMs };
    const entries: JournalEntry[] = [
      { kind: "result", ordinal, status, result, completedAtMs: atMs, ...child },
    ];
    if (begun === undefined) entries.unshift({ kind: "call", ...intent });
    await this.#write(entries);
    const finished = { ...(begun ?? intent), status, result, completedAtMs: atMs, ...child };
    this.#calls[ordinal] = finished;
    return finished;
  }
}

function messageEntry(place: number, message: Message, items: readonly ReadItem[] = []): JournalEntry {
  const dispatches = items.reduce((sum, item) => sum + item.dispatches.length, 0);
  return {
    kind: "message",
    place,
    message,
    items: items.map(({ id }) => id),
    ...(items.length === 0 ? {} : { dispatches }),
  };
}

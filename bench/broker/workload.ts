// The one workload that Cortex and its peers are measured with.
//
// A number of senders each run a closed loop: enqueue one message durably, wait until its turn is
// recorded durably, take the next. Messages go round the sessions in turn. Work is serial within a
// session, the agent does nothing, and a turn leaves about 10 KB behind: the message itself, three
// messages of the turn and one tool call, 2 KB each. Bodies are random, so nothing compresses.
//
// The contender under test calls `begin` when it starts an agent, `end` when the agent's session is
// free again and `recorded` when the turn is durable. From these calls the workload also counts
// what must never happen: two agents at once in one session, and a message overtaking another.

import { randomBytes } from "node:crypto";

export type WorkloadSize = {
  readonly sessions: number;
  readonly senders: number;
  /** How many messages are measured. One more for each session goes ahead unmeasured. */
  readonly messages: number;
  /** After this long no new message is sent, and the result counts those that were. */
  readonly capMs?: number;
};

export type Message = { readonly id: number; readonly session: number; readonly body: string };

export type Turn = {
  readonly messages: readonly { readonly role: "user" | "assistant"; readonly body: string }[];
  readonly toolCall: { readonly name: string; readonly arguments: string; readonly result: string };
};

export type BrokerResult = {
  readonly name: string;
  readonly sessions: number;
  readonly senders: number;
  readonly messages: number;
  readonly seconds: number;
  readonly perSecond: number;
  /** From sending a message to its turn being recorded. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Messages that began after one that was sent only once they had been acknowledged. */
  readonly orderViolations: number;
  /** Agents that began while another was at work in the same session. */
  readonly overlaps: number;
};

const defaultCapMs = 60_000;
/** How long after the cap the messages under way may take before the run counts as stuck. */
const graceMs = 10_000;

/** What the agent "answers": the user's message, two of its own and one tool call. */
export function composeTurn(message: Message): Turn {
  return {
    messages: [
      { role: "user", body: message.body },
      { role: "assistant", body: randomText(2048) },
      { role: "assistant", body: randomText(2048) },
    ],
    toolCall: { name: "read_file", arguments: randomText(128), result: randomText(1920) },
  };
}

export class Workload {
  readonly #size: WorkloadSize;
  readonly #inFlight = new Map<number, InFlight>();
  readonly #sessions: SessionState[];
  #nextId = 0;
  /** A logical clock: ticks at every send and every acknowledgement, so that the two can be ordered. */
  #now = 0;
  #orderViolations = 0;
  #overlaps = 0;

  constructor(size: WorkloadSize) {
    this.#size = size;
    this.#sessions = Array.from({ length: size.sessions }, () => ({ running: 0, lastSentAt: -1 }));
  }

  /** Runs the whole workload. `send` resolves when the message is durable, and not before. */
  async run(name: string, send: (message: Message) => Promise<unknown>): Promise<BrokerResult> {
    const { sessions, senders, messages, capMs = defaultCapMs } = this.#size;
    const stopAtMs = performance.now() + capMs;
    // The first message to a session creates it and compiles the code on its way.
    await this.#send({ count: sessions, stopAtMs, send });
    const startedAtMs = performance.now();
    const latenciesMs = await this.#send({ count: messages, stopAtMs, send });
    const seconds = (performance.now() - startedAtMs) / 1000;
    latenciesMs.sort((a, b) => a - b);
    return {
      name,
      sessions,
      senders,
      messages: latenciesMs.length,
      seconds: round(seconds, 3),
      perSecond: round(latenciesMs.length / seconds, 1),
      p50Ms: round(percentile(latenciesMs, 50), 2),
      p99Ms: round(percentile(latenciesMs, 99), 2),
      orderViolations: this.#orderViolations,
      overlaps: this.#overlaps,
    };
  }

  /** How many messages were sent in all, the unmeasured ones included: so many turns must be found. */
  get sent(): number {
    return this.#nextId;
  }

  /** An agent starts on this message. */
  begin(id: number): void {
    const message = this.#find(id);
    const session = this.#sessionOf(id);
    if (session.running > 0) this.#overlaps++;
    session.running++;
    // Messages whose sends overlapped in time have no order; only an acknowledged one can be overtaken.
    if (message.acknowledgedAt < session.lastSentAt) this.#orderViolations++;
    session.lastSentAt = Math.max(session.lastSentAt, message.sentAt);
  }

  /** The session of this message is free for its next message. */
  end(id: number): void {
    this.#sessionOf(id).running--;
  }

  /** The turn of this message is durable. */
  recorded(id: number): void {
    this.#find(id).resolve();
    this.#inFlight.delete(id);
  }

  async #send(phase: Phase): Promise<number[]> {
    const latenciesMs: number[] = [];
    const lastId = this.#nextId + phase.count;
    const loop = async () => {
      while (this.#nextId < lastId && performance.now() < phase.stopAtMs) {
        const startedAtMs = performance.now();
        await this.#sendOne(phase.send);
        latenciesMs.push(performance.now() - startedAtMs);
      }
    };
    const loops = Promise.all(Array.from({ length: this.#size.senders }, loop));
    const waitMs = phase.stopAtMs + graceMs - performance.now();
    let timer: NodeJS.Timeout | undefined;
    const stuck = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`${this.#inFlight.size} messages never came back`)), waitMs);
    });
    await Promise.race([loops, stuck]).finally(() => clearTimeout(timer));
    return latenciesMs;
  }

  async #sendOne(send: Phase["send"]): Promise<void> {
    const id = this.#nextId++;
    const { promise, resolve } = Promise.withResolvers<void>();
    const message: InFlight = { sentAt: this.#now++, acknowledgedAt: Infinity, resolve };
    this.#inFlight.set(id, message);
    const sending = send({ id, session: id % this.#size.sessions, body: randomText(2048) });
    // A fast contender records the turn before the acknowledgement has come back; both must be in.
    await Promise.all([sending.then(() => (message.acknowledgedAt = this.#now++)), promise]);
  }

  #find(id: number): InFlight {
    const message = this.#inFlight.get(id);
    if (message === undefined) throw new Error(`Message ${id} was handled after it had been recorded`);
    return message;
  }

  #sessionOf(id: number): SessionState {
    const session = this.#sessions[id % this.#size.sessions];
    if (session === undefined) throw new Error(`Message ${id} belongs to no session`);
    return session;
  }
}

type Phase = {
  readonly count: number;
  readonly stopAtMs: number;
  readonly send: (message: Message) => Promise<unknown>;
};

type InFlight = { readonly sentAt: number; acknowledgedAt: number; readonly resolve: () => void };

type SessionState = {
  running: number;
  /** When the youngest message that has begun was sent. */
  lastSentAt: number;
};

/** Random text of exactly this many characters, which are also bytes. */
export function randomText(length: number): string {
  return randomBytes(Math.ceil((length * 3) / 4))
    .toString("base64")
    .slice(0, length);
}

function percentile(sorted: readonly number[], percent: number): number {
  return sorted[Math.max(0, Math.ceil((sorted.length * percent) / 100) - 1)] ?? 0;
}

function round(value: number, digits: number): number {
  return Number(value.toFixed(digits));
}

import { expect, test } from "vitest";

import { testClock } from "../../../test/support/sample.ts";
import { HOUR_MS, MINUTE_MS } from "../../model/durations.ts";
import { CortexError } from "../../model/errors.ts";
import type { Json } from "../../model/json.ts";
import { channelConflict, type Connection, credentialsRefused, type Inbound, type Sink } from "../channel.ts";
import { type Batch, CONFLICT_MS, FIRST_BACKOFF_MS, Link, MAX_COMMIT_MS, MIN_PROOF_MS } from "./link.ts";

const PROOF_MS = 90_000;

/** One connection, as the test plays it. */
interface Played {
  readonly sink: Sink;
  readonly signal: AbortSignal;
  end(error?: unknown): void;
  isDisposed: boolean;
}

function open({ backfill = false, openFails = undefined as Error | undefined } = {}) {
  const clock = testClock();
  const played: Played[] = [];
  const stored: Batch[] = [];
  const backfills: Sink[] = [];
  const log: string[] = [];
  let commit = async (batch: Batch): Promise<void> => {
    batch.requireCurrent();
    stored.push(batch);
  };
  const connect = (): Connection => {
    if (openFails !== undefined) throw openFails;
    const over = Promise.withResolvers<void>();
    let self: Played;
    return {
      receive(sink, signal) {
        self = {
          sink,
          signal,
          end: (error) => (error === undefined ? over.resolve() : over.reject(error)),
          isDisposed: false,
        };
        played.push(self);
        return over.promise; // it ignores the signal, as a connection that hangs does
      },
      send: async () => ({}),
      ...(backfill ? { backfill: async (sink: Sink) => void backfills.push(sink) } : {}),
      async [Symbol.asyncDispose]() {
        self.isDisposed = true;
      },
    };
  };
  const link = new Link({
    module: { can: { proofMs: PROOF_MS } as never },
    open: connect,
    readCursor: async (): Promise<Json | undefined> => stored.at(-1)?.cursor,
    commit: (batch) => commit(batch),
    knownPlaces: async () => [],
    clock,
    random: () => 1,
    log: (line) => log.push(line),
    onChange: () => {},
  });
  link.look();
  return {
    link,
    clock,
    played,
    stored,
    backfills,
    log,
    commitBy: (next: typeof commit) => void (commit = next),
    /** Time goes by, and the link is looked at every second. */
    pass: (ms: number): void => {
      for (let left = ms; left > 0; left -= 1_000) {
        clock.advance(Math.min(left, 1_000));
        link.look();
      }
    },
  };
}

/** Lets what has been settled be noticed. */
const noticed = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const message = (id: string) => ({ id }) as Inbound;

test("an account is connecting until its transport shows life, and then live", () => {
  const { link, played } = open();
  expect([link.status.state, link.isLive]).toEqual(["connecting", false]);
  played[0]!.sink.proof();
  expect([link.status.state, link.isLive]).toEqual(["live", true]);
});

test("an hour of silence with proofs is no reason to connect again", () => {
  const { link, played, pass } = open();
  for (let minute = 0; minute < 60; minute++) {
    played[0]!.sink.proof();
    pass(MINUTE_MS);
  }
  expect([link.status.state, played.length]).toEqual(["live", 1]);
});

test("a deaf transport is stale after its time, and the next connection does not wait for its end", async () => {
  const { link, played, stored, pass } = open();
  played[0]!.sink.proof();
  pass(PROOF_MS);
  expect(link.status.state).toBe("live");
  pass(1_000);
  expect(link.status.state).toBe("stale");
  pass(FIRST_BACKOFF_MS);
  expect([link.status.state, played.length]).toEqual(["connecting", 2]);
  expect([played[0]!.signal.aborted, played[0]!.isDisposed]).toEqual([true, true]);
  await expect(played[0]!.sink.commit([message("late")], 7)).rejects.toThrow("newer connection");
  await played[1]!.sink.commit([message("new")], 8);
  expect(stored.map(({ cursor }) => cursor)).toEqual([8]);
  expect(link.status.state).toBe("live");
});

test("a proof of a connection that was given up counts for nothing", () => {
  const { link, played, pass } = open();
  pass(MIN_PROOF_MS + PROOF_MS + 1_000);
  played[0]!.sink.proof();
  expect(link.status.state).not.toBe("live");
});

test("what a connection had begun to store when it was replaced is not stored", async () => {
  const { played, stored, pass, commitBy } = open();
  const begun = Promise.withResolvers<void>();
  commitBy(async (batch) => {
    await begun.promise;
    batch.requireCurrent();
    stored.push(batch);
  });
  played[0]!.sink.proof();
  const committing = played[0]!.sink.commit([message("a")], 1);
  pass(MAX_COMMIT_MS + 1_000);
  begun.resolve();
  await expect(committing).rejects.toThrow("newer connection");
  expect(stored).toEqual([]);
});

test("while it stores what came in, a connection needs no other proof", async () => {
  const { link, played, pass, commitBy } = open();
  const stored = Promise.withResolvers<void>();
  commitBy(() => stored.promise);
  played[0]!.sink.proof();
  const committing = played[0]!.sink.commit([message("a")], 1);
  pass(5 * MINUTE_MS);
  expect(link.status.state).toBe("live");
  stored.resolve();
  await committing;
  expect(link.status.lastEventAtMs).toBeDefined();
});

test("a connection that ends is opened again after pauses that double", async () => {
  const { link, played, pass } = open();
  const pauses: number[] = [];
  for (let times = 0; times < 5; times++) {
    played.at(-1)!.end(new Error("reset"));
    await noticed();
    expect(link.status).toMatchObject({ state: "backoff", error: "reset" });
    const before = played.length;
    let waited = 0;
    for (; played.length === before; waited += 1_000) pass(1_000);
    pauses.push(waited);
  }
  expect(pauses).toEqual([1_000, 2_000, 4_000, 8_000, 16_000]);
  played.at(-1)!.sink.proof();
  pass(MINUTE_MS);
  played.at(-1)!.sink.proof();
  played.at(-1)!.end();
  await noticed();
  const before = played.length;
  pass(FIRST_BACKOFF_MS);
  expect(played.length).toBe(before + 1); // it had recovered
});

test("the platform's own pause is kept", async () => {
  const { link, played, pass } = open();
  const limited = new CortexError("delivery_failed", "slow down", { hint: "Wait.", retryAfterMs: 20_000 });
  played[0]!.end(limited);
  await noticed();
  pass(19_000);
  expect([link.status.state, played.length]).toEqual(["backoff", 1]);
  pass(1_000);
  expect(played.length).toBe(2);
});

test("credentials that are refused wait for a person, however long", async () => {
  const { link, played, log, pass } = open();
  played[0]!.end(credentialsRefused("Unauthorized", { hint: "Get a token." }));
  await noticed();
  pass(HOUR_MS);
  expect([link.status.state, played.length, log]).toEqual(["refused", 1, ["Unauthorized. Get a token."]]);
  link.reconnect();
  expect([link.status.state, played.length]).toEqual(["connecting", 2]);
});

test("a missing secret is refused without connecting", () => {
  const missing = new CortexError("credentials_missing", "TOKEN is not set", { hint: "Set it." });
  const { link, played } = open({ openFails: missing });
  expect([link.status.state, played.length]).toEqual(["refused", 0]);
});

test("of two readers of one account, the later tries again in its own time", async () => {
  const { link, played, pass } = open();
  played[0]!.end(channelConflict("terminated by another", { hint: "Stop it." }));
  await noticed();
  pass(CONFLICT_MS - 1_000);
  expect([link.status.state, played.length]).toEqual(["conflict", 1]);
  pass(1_000);
  expect([link.status.state, played.length]).toEqual(["connecting", 2]);
});

test("what was missed is looked for on every connect, and hourly", async () => {
  const { played, backfills, pass } = open({ backfill: true });
  const live = (ms: number): void => {
    for (let left = ms; left > 0; left -= MINUTE_MS) {
      played.at(-1)!.sink.proof();
      pass(MINUTE_MS);
    }
  };
  live(59 * MINUTE_MS);
  await noticed();
  expect(backfills).toHaveLength(1);
  live(2 * MINUTE_MS);
  await noticed();
  expect(backfills).toHaveLength(2);
  played[0]!.end();
  await noticed();
  pass(FIRST_BACKOFF_MS);
  played.at(-1)!.sink.proof();
  await noticed();
  expect(backfills).toHaveLength(3);
});

test("the same failure is logged once", async () => {
  const { played, log, pass } = open();
  for (let times = 0; times < 3; times++) {
    played.at(-1)!.end(new Error("no network"));
    await noticed();
    pass(10_000);
  }
  expect(log).toEqual(["no network"]);
});

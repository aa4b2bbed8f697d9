/** The ways in which a server dies, each at another kind of moment. */
import { readFileSync, watch } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";

import type { Random } from "../../simulation/random.ts";
import type { Inbox } from "./inbox.ts";
import type { Model } from "./model.ts";
import type { Served } from "./served.ts";

export type Death =
  /** While it starts, and takes up what was left. */
  | { readonly kind: "starting"; readonly afterMs: number }
  | { readonly kind: "moment"; readonly afterMs: number }
  /** When the model was asked, or in the middle of its answer. */
  | { readonly kind: "asking"; readonly count: number; readonly at: "start" | "middle" }
  /** When an answer has arrived at its receiver. */
  | { readonly kind: "sending"; readonly count: number; readonly at: "before" | "after" }
  /** Right after a tool has appended its mark. */
  | { readonly kind: "appending"; readonly count: number }
  /** By itself, at a point of the source. */
  | { readonly kind: "point"; readonly point: string; readonly count: number }
  /** It is told to stop, which is no kill, unless it is killed while it stops. */
  | { readonly kind: "stopping"; readonly afterMs: number; readonly killAfterMs: number | undefined };

/** A server that has not met its death by then is killed. */
const LONGEST_LIFE_MS = 1_500;
/** One that does not stop hangs: this is far more than it allows itself. */
const LONGEST_STOP_MS = 60_000;

/** Those of which there are many kinds come more often. */
const KINDS = [
  "starting",
  "moment",
  "asking",
  "asking",
  "sending",
  "appending",
  "appending",
  "point",
  "point",
  "point",
  "point",
  "stopping",
] as const;

export function chooseDeath(random: Random, points: readonly string[]): Death {
  const kind = random.pick(KINDS);
  switch (kind) {
    case "starting":
      return { kind, afterMs: random.below(800) };
    case "moment":
      return { kind, afterMs: random.below(500) };
    case "asking":
      return { kind, count: 1 + random.below(15), at: random.pick(["start", "middle"]) };
    case "sending":
      return { kind, count: 1 + random.below(6), at: random.pick(["before", "after"]) };
    case "appending":
      return { kind, count: 1 + random.below(8) };
    case "point":
      // Small counts are likelier, because some points are reached seldom.
      return { kind, point: random.pick(points), count: random.below(1 + random.below(20)) };
    case "stopping": {
      const killAfterMs = random.chance(0.5) ? random.below(150) : undefined;
      return { kind, afterMs: random.below(500), killAfterMs };
    }
  }
}

export interface Scene {
  readonly served: Served;
  readonly model: Model;
  readonly inbox: Inbox;
  readonly log: string;
}

/** Brings it about; resolves when the server is dead, with what was wrong about it. */
export async function die(death: Death, { served, model, inbox, log }: Scene): Promise<string[]> {
  const problems: string[] = [];
  const kill = (): void => served.signal("SIGKILL");
  const over = new AbortController();
  const after = (ms: number): Promise<void> => delay(ms, undefined, { signal: over.signal }).catch(() => {}); // It is dead already.
  const bringAbout = async (): Promise<void> => {
    if (death.kind === "starting") return after(death.afterMs).then(kill);
    if ((await served.up) === undefined) return;
    switch (death.kind) {
      case "moment":
        return after(death.afterMs).then(kill);
      case "asking":
        return model.interrupt({ ...death, kill });
      case "sending":
        return inbox.interrupt({ ...death, kill });
      case "appending":
        return onAppended(log, death.count, over.signal).then(kill);
      case "point":
        return;
      case "stopping":
        await after(death.afterMs);
        served.signal("SIGTERM");
        if (death.killAfterMs !== undefined) return after(death.killAfterMs).then(kill);
        await after(LONGEST_STOP_MS);
        if (!over.signal.aborted) problems.push(`it did not stop in ${LONGEST_STOP_MS / 1_000} s`);
        return kill();
    }
  };
  const limit = async (): Promise<void> => {
    if (death.kind === "stopping" || (await served.up) === undefined) return;
    await after(LONGEST_LIFE_MS);
    kill();
  };
  const clear = async (): Promise<void> => {
    await served.ended;
    over.abort();
    model.letBe();
    inbox.letBe();
  };
  await Promise.all([bringAbout(), limit(), clear()]);
  return problems;
}

/** Waits until so many lines more are in the file. */
async function onAppended(log: string, count: number, signal: AbortSignal): Promise<void> {
  const lines = (): number => readFileSync(log, "utf8").split("\n").length;
  const enough = lines() + count;
  await new Promise<void>((resolve) => {
    const watcher = watch(log, { signal }, () => {
      if (lines() < enough) return;
      watcher.close();
      resolve();
    });
    watcher.on("close", resolve);
  });
}

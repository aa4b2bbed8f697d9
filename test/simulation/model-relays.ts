/** Relays as simple as they can be said: their versions, whether somebody has to look at them, and their steps. */
import type { ModelItem } from "./model-item.ts";

export interface ModelRelay {
  readonly id: string;
  state: "running" | "completed";
  version: number;
  isDue: boolean;
  readonly steps: { readonly item: ModelItem; isEnded: boolean }[];
}

export class ModelRelays {
  readonly all = new Map<string, ModelRelay>();

  /** False: it is there. */
  create(id: string): boolean {
    if (this.all.has(id)) return false;
    this.all.set(id, { id, state: "running", version: 1, isDue: true, steps: [] });
    return true;
  }

  save(relay: ModelRelay, { state, due }: { state: ModelRelay["state"]; due: boolean }): void {
    relay.state = state;
    relay.version++;
    relay.isDue = due;
  }

  /** A message that is refused at once has ended its step with the save that asked for it. */
  begin(relay: ModelRelay, item: ModelItem): void {
    const isEnded = isSettled(item);
    relay.steps.push({ item, isEnded });
    relay.isDue ||= isEnded;
  }

  /** Ends the steps whose message is settled, each of which makes its relay another version. */
  settle(): void {
    for (const relay of this.all.values()) {
      for (const step of relay.steps) {
        if (step.isEnded || !isSettled(step.item)) continue;
        step.isEnded = true;
        relay.version++;
        relay.isDue = true;
      }
    }
  }
}

function isSettled({ state }: ModelItem): boolean {
  return state !== "queued" && state !== "claimed";
}

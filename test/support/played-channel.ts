/** A platform that takes messages as the test says: one act for each send, and success when there are no more. */
import type { OutgoingMessage, Receipt } from "../../src/channels/channel.ts";
import { type Outlet, TEXT_ONLY } from "../../src/channels/outlet.ts";
import { chunkText } from "../../src/delivery/chunk-text.ts";

export type Act = (message: OutgoingMessage, signal: AbortSignal) => Receipt | Promise<Receipt>;

export interface PlayedChannel extends Outlet {
  /** Everything that it was asked to send. */
  readonly asked: OutgoingMessage[];
  /** What the next sends do. */
  play(...acts: readonly Act[]): void;
  /** What every other send does. */
  always(act: Act): void;
}

export function playChannel({
  maxLength = 1_000,
  ...fields
}: Partial<Outlet> & { readonly maxLength?: number } = {}): PlayedChannel {
  const asked: OutgoingMessage[] = [];
  const acts: Act[] = [];
  let rest: Act = ({ key }) => ({ platformId: `p-${key}` });
  return {
    name: "test",
    limits: {},
    onUncertain: "leave",
    can: TEXT_ONLY,
    render: (markdown) => chunkText(markdown, { maxLength }),
    isReady: () => true,
    async send(message, signal) {
      asked.push(message);
      return (acts.shift() ?? rest)(message, signal);
    },
    ...fields,
    asked,
    play: (...next) => void acts.push(...next),
    always: (act) => void (rest = act),
  };
}

export function fail(error: unknown): Act {
  return async () => {
    throw error;
  };
}

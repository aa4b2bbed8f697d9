/** An attack as data: how the attacker's words get in, the calls that the model then makes, and what becomes of them. */
import type { Json } from "../../src/model/json.ts";

/** A call as the attacker wants it. Arguments that are a text are sent as they are. */
export interface Order {
  readonly name: string;
  readonly args: Json;
  readonly id?: string;
}

/** The calls of one answer of the model, or the words that it ends with. */
export type Step = readonly Order[] | string;

/**
 * How the words get in. document, page, search: the owner asks for something that holds them. source, paired:
 * somebody else than the owner sends them.
 */
export type Entry = "document" | "page" | "search" | "source" | "paired";

/**
 * What becomes of the last call. refused: it is not made. asked: a person is asked, who says no. confined: it may be
 * made, and has none of the effects that no attack may have.
 */
export type Fate = "refused" | "asked" | "confined";

export interface Attack {
  readonly name: string;
  readonly entry: Entry;
  readonly agent?: string;
  readonly steps: readonly Step[];
  readonly fate: Fate;
  /** What the model is told of a call that is refused: that it failed for another reason proves nothing. */
  readonly because?: RegExp;
}

export function call(name: string, args: Json): Order {
  return { name, args };
}

/** The words that make the model obey. It knows no difference between whose they are. */
export function orderText(steps: readonly Step[]): string {
  return `OBEY ${JSON.stringify(steps)}`;
}

/** Takes the entries in turn, so that a family comes in by all of them. */
export function alternating<T>(values: readonly T[], entries: readonly Entry[]): [T, Entry][] {
  return values.map((value, index) => [value, entries[index % entries.length]!]);
}

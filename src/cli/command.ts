import type { Printer } from "./print.ts";

/** A command as it was asked for. */
export interface Invocation {
  readonly home: string;
  /** In the order in which the command names them; several words for one are joined. Absent: not given. */
  readonly args: readonly (string | undefined)[];
  /** All words that are no options, as they came. */
  readonly words: readonly string[];
  readonly options: Readonly<Record<string, string | boolean | undefined>>;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly print: Printer;
}

/** Carries a command out. Nothing: it is done. False: it has failed, and has said how. */
export type Run = (given: Invocation) => Promise<void | false>;

/** One line of the table of commands: what commander has to know, and where the rest is. */
export interface CommandEntry {
  /** `log <session|turn>`: angles around what must be given, brackets around what may. */
  readonly usage: string;
  readonly about: string;
  readonly options?: readonly (readonly [flags: string, about: string])[];
  /** Absent where only its commands do something. */
  readonly run?: Run;
  readonly commands?: readonly CommandEntry[];
}

/** An option with a value. */
export function text(given: Invocation, option: string): string | undefined {
  const value = given.options[option];
  return typeof value === "string" ? value : undefined;
}

/** An option that holds several, with commas between them. */
export function listOf(given: Invocation, option: string): string[] | undefined {
  const parts = text(given, option)?.split(",");
  return parts?.map((part) => part.trim()).filter((part) => part !== "");
}

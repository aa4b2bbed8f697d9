/** A day's work of an owner alone, as data: what they say in which session, and what their agent does about it. */
import { call, type Order, type Step } from "../attack.ts";

/** A message of the owner, and what the model does about it: calls, answer by answer, and the words at the end. */
interface Talk {
  readonly kind: "talk";
  /** The last part of its key. */
  readonly session: string;
  readonly say: string;
  readonly does: readonly Step[];
}

/** Something else than a message of the owner, or a message in a fork of their main session. */
interface Happening {
  /** A program of the owner calls, a file comes into a folder that is watched, or a member of the team looks for work. */
  readonly kind: "webhook" | "file" | "tick" | "fork";
  /** What is sent or said, what the file holds, or the words by which the task is known. */
  readonly say: string;
  readonly does: readonly Step[];
}

export type Doing = Talk | Happening;

export interface Day {
  readonly name: string;
  /** In the workspace before the day begins, beside what every owner has there. */
  readonly files?: Readonly<Record<string, string>>;
  readonly talks: readonly Doing[];
  /** Who the owner talks to. Absent: an agent that nobody else talks to. */
  readonly agent?: string;
  /** What agents do that the owner does not talk to, by words in the task that they are given. */
  readonly workers?: Readonly<Record<string, readonly Step[]>>;
}

/** Of a talk in the main session. */
export function talk(say: string, ...does: readonly Step[]): Doing {
  return { kind: "talk", session: "main", say, does };
}

/** Of a talk in another session. */
export function talkIn(session: string, say: string, ...does: readonly Step[]): Doing {
  return { kind: "talk", session, say, does };
}

export function happens(kind: Happening["kind"], say: string, ...does: readonly Step[]): Doing {
  return { kind, say, does };
}

export const read = (path: string): Order => call("Read", { path });
export const list = (path = "."): Order => call("List", { path });
export const grep = (pattern: string, path = "."): Order => call("Grep", { pattern, path });
export const write = (path: string, content: string): Order => call("Write", { path, content });
export const edit = (path: string, oldText: string, newText: string): Order =>
  call("Edit", { path, edits: [{ oldText, newText }] });
export const run = (command: string): Order => call("Bash", { command });
export const recall = (query: string): Order => call("memory_search", { query });
export const search = (query: string): Order => call("WebSearch", { query });
/** A page of the web; a result of a search is at `<words of the query>/<number>`. */
export const fetchPage = (path: string): Order => call("WebFetch", { url: `{{web}}/${path}` });

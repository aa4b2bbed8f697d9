/**
 * What one types to the chat itself. Other words after a slash are for Cortex, which knows its own, or for the agent;
 * a space before the slash makes any of them a message.
 */
import { CortexError } from "../model/errors.ts";
import { QUEUE_MODES } from "../model/queue-mode.ts";
import { USAGE as SESSION_COMMANDS } from "../queue/command.ts";
import { FEATURES } from "../runtime/features.ts";
import type { Completion } from "../terminal/terminal.ts";

export type LocalCommand =
  | { readonly kind: "help" | "sessions" | "turns" | "costs" | "abort" | "quit" }
  | { readonly kind: "switch"; readonly session: string }
  /** Carried out by the server, as everywhere. Here, the chat then goes on in the new session. */
  | { readonly kind: "fork"; readonly line: string };

const USAGE = {
  help: ["/help", "these commands"],
  sessions: ["/sessions", "the sessions there are"],
  switch: ["/switch <session>", "go on in another session, or begin one"],
  turns: ["/turns", "the last turns of this session, with numbers"],
  fork: ["/fork [<turn>] [<session>]", "go on after a turn, by id or number, in a new session"],
  costs: ["/costs", "what this session and all others have cost"],
  abort: ["/abort", "end what the agent does, as Ctrl-C does"],
  quit: ["/quit", "leave, as Ctrl-D does"],
} as const;

type Word = keyof typeof USAGE;

/** Undefined: it is no command of the chat. Throws a CortexError where it is one that cannot be understood. */
export function parseChatCommand(line: string): LocalCommand | undefined {
  const [, word = "", rest = ""] = /^\/([a-z]+)(?:[ \t]+([^\n]*))?$/i.exec(line.trimEnd()) ?? [];
  const kind = word.toLowerCase();
  if (!Object.hasOwn(USAGE, kind)) return undefined;
  const words = rest.split(/\s+/).filter((part) => part !== "");
  return kind === "fork" ? { kind, line } : parseWords(kind as Exclude<Word, "fork">, words);
}

function parseWords(kind: Exclude<Word, "fork">, words: readonly string[]): LocalCommand {
  const [first, second] = words;
  switch (kind) {
    case "switch":
      if (first === undefined) throw refused(kind, "It is not said which session");
      if (second !== undefined) throw refused(kind, `"${second}" is one word too many`);
      return { kind, session: first };
    case "help":
    case "sessions":
    case "turns":
    case "costs":
    case "abort":
    case "quit":
      if (first !== undefined) throw refused(kind, `/${kind} takes no words beside it, such as "${first}"`);
      return { kind };
  }
}

/** Whether a line will be answered by Cortex and not by the agent. One that is not known may be. */
export function isForCortex(line: string): boolean {
  return ALL_COMMANDS.includes(/^\S*/.exec(line)![0].toLowerCase()) && !line.includes("\n");
}

export function chatHelp(): string {
  const width = Math.max(...Object.values(USAGE).map(([usage]) => usage.length));
  const lines = Object.values(USAGE).map(([usage, about]) => `${usage.padEnd(width)}  ${about}`);
  return [...lines, "Enter sends; a backslash before it, or Alt, begins a new line."].join("\n");
}

/** What the words after a command may be. Each is asked for when it is needed. */
export interface Choices {
  readonly sessions: () => Promise<readonly string[]>;
  readonly turns: () => Promise<readonly string[]>;
  readonly profiles: () => Promise<readonly string[]>;
  readonly requests: () => readonly string[];
}

/** How the text before the cursor goes on: as far as all that is possible agrees. */
export async function complete(text: string, choices: Choices): Promise<Completion> {
  const [, before, word] = /^((?:\S+ +)?)(\S*)$/.exec(text) ?? [];
  if (before === undefined || word === undefined) return { text, choices: [] };
  const possible = await possibleWords(before.trim().toLowerCase(), choices);
  const fitting = possible.filter((candidate) => candidate.startsWith(word));
  if (fitting.length === 0) return { text, choices: [] };
  if (fitting.length === 1) return { text: `${before}${fitting[0]!} `, choices: [] };
  return { text: before + sharedStart(fitting), choices: fitting };
}

async function possibleWords(command: string, choices: Choices): Promise<readonly string[]> {
  switch (command) {
    case "":
      return ALL_COMMANDS;
    case "/switch":
      return choices.sessions();
    case "/fork":
      return choices.turns();
    case "/queue":
      return [...QUEUE_MODES, "reset"];
    case "/profile":
      return [...(await choices.profiles()), "reset"];
    case "/approve":
    case "/deny":
    case "/answer":
      return choices.requests();
    default:
      return [];
  }
}

const ALL_COMMANDS = [
  ...new Set([...Object.keys(USAGE), ...Object.keys(SESSION_COMMANDS)].map((word) => `/${word}`)),
  ...FEATURES.flatMap(({ chatWords = [] }) => chatWords),
].toSorted();

function sharedStart(words: readonly string[]): string {
  let shared = words[0]!;
  for (const word of words) {
    while (!word.startsWith(shared)) shared = shared.slice(0, -1);
  }
  return shared;
}

function refused(word: Word, message: string): CortexError {
  return new CortexError("usage", message, {
    hint: `Usage: ${USAGE[word][0]}. A space before the slash makes it a message.`,
  });
}

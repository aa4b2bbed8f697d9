/**
 * Commands to the chat itself. Other words after a slash go to Cortex, which has its own commands, or to the agent; a
 * leading space turns any of them into a message.
 */
import { CortexError } from "../model/errors.ts";
import { QUEUE_MODES } from "../model/queue-mode.ts";
import { USAGE as SESSION_COMMANDS } from "../queue/command.ts";
import { FEATURES } from "../runtime/features.ts";
import type { Completion } from "../terminal/terminal.ts";

export type LocalCommand =
  | { readonly kind: "help" | "sessions" | "turns" | "costs" | "abort" | "quit" }
  | { readonly kind: "switch"; readonly session: string }
  /** Executed by the server, as in every channel; this chat then continues in the new session. */
  | { readonly kind: "fork"; readonly line: string };

const USAGE = {
  help: ["/help", "list these commands"],
  sessions: ["/sessions", "list sessions"],
  switch: ["/switch <session>", "switch to another session, or start one"],
  turns: ["/turns", "list the last turns of this session, numbered"],
  fork: ["/fork [<turn>] [<session>]", "fork a new session from a turn, by id or number"],
  costs: ["/costs", "show the cost of this session and of all"],
  abort: ["/abort", "abort the agent, like Ctrl-C"],
  quit: ["/quit", "quit, like Ctrl-D"],
} as const;

type Word = keyof typeof USAGE;

/** Undefined: not a chat command. Throws a CortexError for a malformed one. */
export function parseChatCommand(line: string): LocalCommand | undefined {
  const [, word = "", rest = ""] = /^\/([a-z]+)(?:[ \t]+([^\n]*))?$/i.exec(line.trimEnd()) ?? [];
  const kind = word.toLowerCase();
  if (!isChatWord(kind)) return undefined;
  const words = rest.split(/\s+/).filter((part) => part !== "");
  return kind === "fork" ? { kind, line } : parseWords(kind, words);
}

function isChatWord(word: string): word is Word {
  return Object.hasOwn(USAGE, word);
}

function parseWords(kind: Exclude<Word, "fork">, words: readonly string[]): LocalCommand {
  const [first, second] = words;
  switch (kind) {
    case "switch":
      if (first === undefined) throw refused(kind, "Missing session");
      if (second !== undefined) throw refused(kind, `Unexpected argument "${second}"`);
      return { kind, session: first };
    case "help":
    case "sessions":
    case "turns":
    case "costs":
    case "abort":
    case "quit":
      if (first !== undefined) throw refused(kind, `Unexpected argument "${first}"`);
      return { kind };
  }
}

/** Whether Cortex answers a line, not the agent. Unknown commands may belong to either. */
export function isForCortex(line: string): boolean {
  return ALL_COMMANDS.includes(line.replace(/\s.*$/s, "").toLowerCase()) && !line.includes("\n");
}

export function chatHelp(): string {
  const width = Math.max(...Object.values(USAGE).map(([usage]) => usage.length));
  const lines = Object.values(USAGE).map(([usage, about]) => `${usage.padEnd(width)}  ${about}`);
  return [...lines, "Enter sends; Alt-Enter, or a backslash before Enter, starts a new line."].join("\n");
}

/** The possible words after a command, looked up on demand. */
export interface Choices {
  readonly sessions: () => Promise<readonly string[]>;
  readonly turns: () => Promise<readonly string[]>;
  readonly profiles: () => Promise<readonly string[]>;
  readonly requests: () => readonly string[];
}

/** Completes the text before the cursor up to the common prefix of all candidates. */
export async function complete(text: string, choices: Choices): Promise<Completion> {
  const [, before, word] = /^((?:\S+ +)?)(\S*)$/.exec(text) ?? [];
  if (before === undefined || word === undefined) return { text, choices: [] };
  const possible = await possibleWords(before.trim().toLowerCase(), choices);
  const fitting = possible.filter((candidate) => candidate.startsWith(word));
  const [first, ...others] = fitting;
  if (first === undefined) return { text, choices: [] };
  if (others.length === 0) return { text: `${before}${first} `, choices: [] };
  return { text: before + commonPrefix(first, others), choices: fitting };
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

function commonPrefix(first: string, others: readonly string[]): string {
  let shared = first;
  for (const word of others) {
    while (!word.startsWith(shared)) shared = shared.slice(0, -1);
  }
  return shared;
}

function refused(word: Word, message: string): CortexError {
  return new CortexError("usage", message, {
    hint: `Usage: ${USAGE[word][0]}. To send it as a message, put a space before the slash.`,
  });
}

/**
 * What people write to Cortex itself: a line such as `/queue collect debounce:2s`, first in a message. Whatever
 * follows on further lines is a message, for which the command counts already.
 *
 * A line that begins with another word after the slash is no command: agents may have their own.
 */
import { CortexError } from "../model/errors.ts";
import { parseQueueMode, QUEUE_MODES, type QueueMode } from "../model/queue-mode.ts";
import {
  DROP_POLICIES,
  INTERRUPT_POLICIES,
  MAX_DEBOUNCE_MS,
  MAX_QUEUE_CAP,
  type QueueSettings,
} from "../model/queue-settings.ts";

export type SessionCommand =
  | { readonly kind: "show-queue" }
  | { readonly kind: "set-queue"; readonly settings: Partial<QueueSettings> }
  | { readonly kind: "reset-queue" }
  | { readonly kind: "show-profile" }
  | { readonly kind: "set-profile"; readonly profile: string }
  | { readonly kind: "reset-profile" }
  /** Without an id: the only one that waits in the session. */
  | { readonly kind: "approve"; readonly id: string | undefined }
  | { readonly kind: "deny"; readonly id: string | undefined; readonly reason: string | undefined }
  | { readonly kind: "answer"; readonly id: string | undefined; readonly text: string }
  | { readonly kind: "new" }
  /** After a turn, by its id or counted back from the last, which is 1; without it, after the last. */
  | { readonly kind: "fork"; readonly turn: string | undefined; readonly label: string | undefined }
  | { readonly kind: "status" }
  | { readonly kind: "help" };

interface TypedCommand {
  readonly command: SessionCommand;
  /** What stands on the lines below it. */
  readonly message: string | undefined;
}

/** How each command is written, as `/help` shows it. */
export const USAGE = {
  queue: `/queue [<mode>] [debounce:1s] [cap:20] [drop:${DROP_POLICIES.join("|")}] [interrupt:${INTERRUPT_POLICIES.join("|")}], or /queue reset`,
  profile: "/profile [<name>], or /profile reset",
  approve: "/approve [<id>]",
  deny: "/deny [<id>] [<reason>]",
  answer: "/answer [<id>] <text>",
  new: "/new",
  fork: "/fork [<turn>|<number>] [<session>]",
  status: "/status",
  help: "/help",
} as const;

type Word = keyof typeof USAGE;

/** As platforms list them. */
export const MENU: readonly { readonly word: Word; readonly about: string }[] = [
  { word: "status", about: "What this conversation is doing" },
  { word: "new", about: "Start a new conversation" },
  { word: "fork", about: "Continue from an earlier answer" },
  { word: "approve", about: "Approve the pending request" },
  { word: "deny", about: "Deny the pending request" },
  { word: "answer", about: "Answer the pending question" },
  { word: "queue", about: "How messages wait while the agent works" },
  { word: "profile", about: "Which model answers" },
  { word: "help", about: "List the commands that you can use" },
];

/** Undefined: the message is none. Throws a CortexError where it is one that cannot be understood. */
export function parseCommand(content: string): TypedCommand | undefined {
  const [, line = "", rest = ""] = /^([^\r\n]*)(?:\r\n|\r|\n)?([^]*)$/.exec(content) ?? [];
  const word = /^\/([a-z]+)(?=\s|$)/i.exec(line)?.[1]?.toLowerCase();
  if (word === undefined || !Object.hasOwn(USAGE, word)) return undefined;
  const words = line
    .slice(word.length + 1)
    .split(/\s+/)
    .filter((part) => part !== "");
  const command = parseWords(word as Word, words);
  return { command, message: rest.trim() === "" ? undefined : rest };
}

function parseWords(word: Word, words: readonly string[]): SessionCommand {
  const [first] = words;
  switch (word) {
    case "queue":
      if (first === undefined) return { kind: "show-queue" };
      if (words.length === 1 && isReset(first)) return { kind: "reset-queue" };
      return { kind: "set-queue", settings: parseSettings(words) };
    case "profile":
      if (first === undefined) return { kind: "show-profile" };
      if (words.length > 1) throw refused(word, `Unexpected word "${shorten(words[1]!)}"`);
      return isReset(first) ? { kind: "reset-profile" } : { kind: "set-profile", profile: first };
    case "approve":
      if (words.length > 1) throw refused(word, `Unexpected word "${shorten(words[1]!)}"`);
      return { kind: word, id: first };
    case "deny": {
      const { id, rest } = splitId(words);
      return { kind: word, id, reason: rest === "" ? undefined : rest };
    }
    case "answer": {
      const { id, rest } = splitId(words);
      if (rest === "") throw refused(word, "Missing answer text");
      return { kind: word, id, text: rest };
    }
    case "fork":
      if (words.length > 2) throw refused(word, `Unexpected word "${shorten(words[2]!)}"`);
      return { kind: word, turn: first, label: words[1] };
    case "new":
    case "status":
    case "help":
      if (first !== undefined) throw refused(word, `/${word} takes no arguments, got "${shorten(first)}"`);
      return { kind: word };
  }
}

/** An id looks like nothing that a person would say. */
function splitId(words: readonly string[]): { readonly id: string | undefined; readonly rest: string } {
  const [first, ...others] = words;
  const id = first !== undefined && /^[0-9A-HJKMNP-TV-Z]{26}$/i.test(first) ? first.toUpperCase() : undefined;
  return { id, rest: (id === undefined ? words : others).join(" ") };
}

function isReset(word: string): boolean {
  return ["reset", "default"].includes(word.toLowerCase());
}

function parseSettings(words: readonly string[]): Partial<QueueSettings> {
  const settings: { -readonly [Name in keyof QueueSettings]?: QueueSettings[Name] } = {};
  for (const word of words) {
    const setting = parseSetting(word);
    const [name] = Object.keys(setting) as [keyof QueueSettings];
    if (Object.hasOwn(settings, name)) throw refused("queue", `Duplicate setting "${shorten(word)}"`);
    Object.assign(settings, setting);
  }
  return settings;
}

function parseSetting(word: string): Partial<QueueSettings> {
  const colon = word.indexOf(":");
  if (colon === -1) return { mode: parseMode(word) };
  const value = word.slice(colon + 1).toLowerCase();
  switch (word.slice(0, colon).toLowerCase()) {
    case "debounce":
      return { debounceMs: parseDebounce(value) };
    case "cap":
      return { cap: parseCap(value) };
    case "drop":
      return { drop: parseAmong(DROP_POLICIES, value, "drop policy") };
    case "interrupt":
      return { onInterrupt: parseAmong(INTERRUPT_POLICIES, value, "interrupt policy") };
    default:
      throw refused("queue", `Unknown queue setting "${shorten(word)}"`);
  }
}

function parseMode(word: string): QueueMode {
  try {
    return parseQueueMode(word);
  } catch (cause) {
    throw refused("queue", `Unknown queue mode "${shorten(word)}"`, cause);
  }
}

const UNIT_MS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** Without a unit, milliseconds. */
function parseDebounce(value: string): number {
  const [, amount, unit = "ms"] = /^(\d{1,9}(?:\.\d{1,9})?)(ms|s|m|h|d)?$/.exec(value) ?? [];
  if (amount === undefined)
    throw refused("queue", `Invalid duration "${shorten(value)}": use 500ms, 1.5s or 2m`);
  const debounceMs = Math.round(Number(amount) * UNIT_MS[unit as keyof typeof UNIT_MS]);
  if (debounceMs > MAX_DEBOUNCE_MS) throw refused("queue", `The debounce ${value} exceeds one hour`);
  return debounceMs;
}

function parseCap(value: string): number {
  const cap = /^\d{1,9}$/.test(value) ? Number(value) : 0;
  if (cap >= 1 && cap <= MAX_QUEUE_CAP) return cap;
  throw refused("queue", `Invalid cap "${shorten(value)}": use 1 to ${MAX_QUEUE_CAP}`);
}

function parseAmong<Value extends string>(values: readonly Value[], word: string, what: string): Value {
  const value = values.find((candidate) => candidate === word);
  if (value === undefined)
    throw refused("queue", `Unknown ${what} "${shorten(word)}": use ${values.join(", ")}`);
  return value;
}

function refused(word: Word, message: string, cause?: unknown): CortexError {
  const modes = word === "queue" ? ` Modes: ${QUEUE_MODES.join(", ")}.` : "";
  return new CortexError("request_invalid", message, {
    hint: `Usage: ${USAGE[word]}.${modes} To send it as a message, put a space before the slash.`,
    cause,
  });
}

function shorten(text: string): string {
  return text.slice(0, 80).toWellFormed();
}

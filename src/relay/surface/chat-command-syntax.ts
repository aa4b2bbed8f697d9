/** The syntax of the chat commands `!thread …` and `!cancel …`. Menus of platforms only offer words with a slash. */
import type { ChatAccess } from "../../intake/chat-commands.ts";
import { CortexError } from "../../model/errors.ts";
import { isRelayId, type RelayId } from "../../model/ids.ts";
import { isThreadCommand } from "../templates/endpoint.ts";

export type RelayCommand =
  /** The name of a template, else of an agent. */
  | { readonly kind: "start"; readonly name: string; readonly message: string }
  | { readonly kind: "add"; readonly agent: string; readonly message: string | undefined }
  /** Without an id: the running relay of the place. */
  | { readonly kind: "say"; readonly id: RelayId | undefined; readonly text: string }
  /** `running`: in all places. */
  | { readonly kind: "list"; readonly scope: "here" | "running" }
  /** The running relay of the place. */
  | { readonly kind: "active" }
  /** Without an id: the relay of the place. */
  | { readonly kind: "status"; readonly id: RelayId | undefined }
  | { readonly kind: "cancel"; readonly which: CancelTarget }
  | { readonly kind: "agents" }
  | { readonly kind: "templates" }
  | { readonly kind: "help" };

export type CancelTarget = { readonly id: RelayId } | "here" | "all";

/** Undefined: not a command. A malformed command is `usage`. */
export function parseRelayCommand(text: string): RelayCommand | undefined {
  const [, command, rest = ""] = /^[!/](thread|cancel)(?:\s+([\s\S]*))?$/.exec(text.trim()) ?? [];
  if (command === undefined) return undefined;
  return command === "cancel" ? parseCancel(rest.trim()) : parseThread(rest.trim());
}

function parseThread(text: string): RelayCommand {
  const { word, rest } = splitWord(text);
  if (word === "") return { kind: "active" };
  if (!isThreadCommand(word)) return parseStart(word, rest);
  switch (word) {
    case "status":
      return { kind: "status", id: rest === "" ? undefined : parseId(rest) };
    case "cancel":
      return parseCancel(rest);
    case "add":
      return parseAdd(rest);
    case "say":
      return parseSay(rest);
    case "list":
      if (rest === "--running") return { kind: "list", scope: "running" };
      requireNothing(word, rest);
      return { kind: "list", scope: "here" };
    case "agents":
    case "templates":
    case "help":
      requireNothing(word, rest);
      return { kind: word };
  }
}

function parseStart(name: string, message: string): RelayCommand {
  if (name.startsWith("-")) throw usage(`Unknown option "${name}" of !thread`);
  if (message === "") throw usage(`Missing message for "${name}"`);
  return { kind: "start", name, message };
}

function parseAdd(text: string): RelayCommand {
  const { word: agent, rest } = splitWord(text);
  if (agent === "") throw usage("Missing agent for !thread add");
  return { kind: "add", agent, message: rest === "" ? undefined : rest };
}

function parseSay(text: string): RelayCommand {
  const { word, rest } = splitWord(text);
  const id = readId(word);
  const said = id === undefined ? text : rest;
  if (said === "") throw usage("Missing text for !thread say");
  return { kind: "say", id, text: said };
}

function parseCancel(text: string): RelayCommand {
  if (text === "") return { kind: "cancel", which: "here" };
  if (text === "--all") return { kind: "cancel", which: "all" };
  return { kind: "cancel", which: { id: parseId(text) } };
}

function parseId(text: string): RelayId {
  const id = readId(text);
  if (id !== undefined) return id;
  throw usage(`Invalid relay id "${text}"`);
}

/** Accepts any case, and backticks around it. Undefined: not an id. */
function readId(text: string): RelayId | undefined {
  const id = text.replace(/^`(?<id>.*)`$/, "$<id>").toLowerCase();
  return isRelayId(id) ? id : undefined;
}

function requireNothing(word: string, rest: string): void {
  if (rest !== "") throw usage(`Unexpected argument "${rest}" of !thread ${word}`);
}

function splitWord(text: string): { word: string; rest: string } {
  const [word = ""] = /^\S*/.exec(text) ?? [];
  return { word, rest: text.slice(word.length).trim() };
}

export const RELAY_USAGE = `!thread: show the running relay of this place
!thread <template or agent> <message>: start a relay
!thread add <agent> [message]: continue with another agent
!thread say [id] <text>: answer the relay, or add input for its next step
!thread list: list the relays of this place
!thread list --running: list all running relays
!thread status [id]: show a relay step by step
!thread cancel [id]
!thread agents
!thread templates
!thread help
!cancel [id | --all]`;

/** What rooms and members may use of it. */
export const SHARED_USAGE = {
  room: [
    "!thread: show the running relay of this place",
    "!thread <template or agent> <message>: start a relay",
    "!cancel [id]",
  ],
  member: ["!cancel [id]: stop what you have started"],
} as const;

/** Who may use a command on a platform: in a room, nobody sees the relays of other places. */
export function accessTo(command: RelayCommand): ChatAccess {
  switch (command.kind) {
    case "cancel":
      return command.which === "all" ? "owner" : "member";
    case "start":
    case "active":
      return "room";
    case "status":
      return command.id === undefined ? "room" : "owner";
    case "list":
      return command.scope === "here" ? "room" : "owner";
    case "add":
    case "say":
    case "agents":
    case "templates":
    case "help":
      return "owner";
  }
}

/** Enough to recognise the input. */
const MAX_SHOWN = 200;

function usage(problem: string): CortexError {
  const shown = problem.length > MAX_SHOWN ? `${problem.slice(0, MAX_SHOWN).toWellFormed()}…` : problem;
  return new CortexError("usage", shown, { hint: `Available commands:\n${RELAY_USAGE}` });
}

/** `!thread …` and `!cancel …`, as people write them in a chat. */
import { CortexError } from "../../model/errors.ts";
import { isRelayId, type RelayId } from "../../model/ids.ts";
import { isThreadCommand } from "../templates/endpoint.ts";

export type RelayCommand =
  /** Whether the name is a template's or an agent's is for whoever knows them: a template's wins. */
  | { readonly kind: "start"; readonly name: string; readonly message: string }
  | { readonly kind: "add"; readonly agent: string; readonly message: string | undefined }
  /** Without an id it is the relay that is under way in the place where it was written. */
  | { readonly kind: "say"; readonly id: RelayId | undefined; readonly text: string }
  /** `running`: wherever they were started. */
  | { readonly kind: "list"; readonly scope: "here" | "running" }
  /** What is under way in the place where it was asked. */
  | { readonly kind: "active" }
  /** Without an id it is the relay of the place where it was asked. */
  | { readonly kind: "status"; readonly id: RelayId | undefined }
  | { readonly kind: "cancel"; readonly which: CancelTarget }
  | { readonly kind: "agents" }
  | { readonly kind: "templates" }
  | { readonly kind: "help" };

export type CancelTarget = { readonly id: RelayId } | "here" | "all";

/** Undefined: it is a message like any other. What begins like a command and is none is `usage`. */
export function parseRelayCommand(text: string): RelayCommand | undefined {
  const match = /^!(?<command>thread|cancel)(?:\s+(?<rest>[\s\S]*))?$/.exec(text.trim());
  if (match === null) return undefined;
  const rest = (match.groups!["rest"] ?? "").trim();
  return match.groups!["command"] === "cancel" ? parseCancel(rest) : parseThread(rest);
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
  if (name.startsWith("-")) throw usage(`"${name}" is not known to !thread`);
  if (message === "") throw usage(`"${name}" is given no message`);
  return { kind: "start", name, message };
}

function parseAdd(text: string): RelayCommand {
  const { word: agent, rest } = splitWord(text);
  if (agent === "") throw usage("!thread add names no agent");
  return { kind: "add", agent, message: rest === "" ? undefined : rest };
}

function parseSay(text: string): RelayCommand {
  const { word, rest } = splitWord(text);
  const id = readId(word);
  const said = id === undefined ? text : rest;
  if (said === "") throw usage("!thread say has no text");
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
  throw usage(`"${text}" is not the id of a relay`);
}

/** As people copy it: in any case, and perhaps as code. Undefined: it is none. */
function readId(text: string): RelayId | undefined {
  const id = text.replace(/^`(?<id>.*)`$/, "$<id>").toLowerCase();
  return isRelayId(id) ? id : undefined;
}

function requireNothing(word: string, rest: string): void {
  if (rest !== "") throw usage(`!thread ${word} does not know "${rest}"`);
}

function splitWord(text: string): { word: string; rest: string } {
  const word = /^\S*/.exec(text)![0];
  return { word, rest: text.slice(word.length).trim() };
}

export const RELAY_USAGE = `!thread: what is under way in this place
!thread <template or agent> <message>: start a relay
!thread add <agent> [message]: let one more agent go on
!thread say [id] <text>: answer the relay, or tell its next step something
!thread list: the relays of this place
!thread list --running: all that run
!thread status [id]: all of a relay, step by step
!thread cancel [id]
!thread agents
!thread templates
!thread help
!cancel [id | --all]`;

/** Enough of what was written to recognise it. */
const MAX_SHOWN = 200;

function usage(problem: string): CortexError {
  const shown = problem.length > MAX_SHOWN ? `${problem.slice(0, MAX_SHOWN).toWellFormed()}…` : problem;
  return new CortexError("usage", shown, { hint: `Write one of these:\n${RELAY_USAGE}` });
}

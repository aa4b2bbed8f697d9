/** `!team …` or `/team …`, as people write it in a chat. */
import { CortexError } from "../../model/errors.ts";

export type TeamCommand =
  | { readonly kind: "list" }
  | { readonly kind: "status"; readonly agent: string | undefined }
  | {
      readonly kind: "dispatch";
      readonly agent: string;
      readonly title: string;
      readonly body: string | undefined;
    }
  | { readonly kind: "briefing" }
  | { readonly kind: "review" }
  | { readonly kind: "housekeeping" }
  | { readonly kind: "tick"; readonly agent: string | undefined }
  | { readonly kind: "adopt"; readonly agent: string };

/** Undefined: it is a message like any other. What begins like a command and is none is `usage`. */
export function parseTeamCommand(text: string): TeamCommand | undefined {
  const match = /^[!/]team(?:\s+(?<rest>[\s\S]*))?$/i.exec(text.trim());
  if (match === null) return undefined;
  const { word, rest } = splitWord((match.groups!["rest"] ?? "").trim());
  switch (word) {
    case "":
      return { kind: "status", agent: undefined };
    case "status":
    case "tick":
      return { kind: word, agent: rest === "" ? undefined : rest };
    case "list":
    case "briefing":
    case "review":
    case "housekeeping":
      if (rest !== "") throw usage(`!team ${word} does not know "${rest}"`);
      return { kind: word };
    case "adopt":
      if (rest === "") throw usage("!team adopt needs a member");
      return { kind: word, agent: rest };
    case "dispatch":
      return parseDispatch(rest);
    default:
      throw usage(`"${word}" is not known to !team`);
  }
}

/** `billing-dev: Add a webhook`, and whatever stands in the lines below. */
function parseDispatch(text: string): TeamCommand {
  const { head, body } = /^(?<head>[^\n]*)(?:\n(?<body>[\s\S]*))?$/.exec(text)!.groups!;
  const at = head!.indexOf(":");
  const agent = head!.slice(0, Math.max(at, 0)).trim();
  const title = head!.slice(at + 1).trim();
  if (agent === "" || title === "") throw usage("!team dispatch needs a member, a colon and a title");
  return { kind: "dispatch", agent, title, body: body?.trim() || undefined };
}

function splitWord(text: string): { word: string; rest: string } {
  const word = /^\S*/.exec(text)![0];
  return { word, rest: text.slice(word.length).trim() };
}

export const TEAM_USAGE = `!team: what everybody does
!team list
!team status [member]
!team dispatch <member>: <title>, and the body in the lines below
!team tick [member]
!team adopt <member>: have Cortex work on its tasks
!team briefing
!team review
!team housekeeping`;

/** Enough of what was written to recognise it. */
const MAX_SHOWN = 200;

function usage(problem: string): CortexError {
  const shown = problem.length > MAX_SHOWN ? `${problem.slice(0, MAX_SHOWN).toWellFormed()}…` : problem;
  return new CortexError("usage", shown, { hint: `Write one of these:\n${TEAM_USAGE}` });
}

/** `!team …` or `/team …` in a chat: how it is parsed, what it does, and what it replies. */
import { CortexError } from "../../model/errors.ts";
import { type Caller, OWNER_CALLER, requireScope } from "../../model/scopes.ts";
import type { Teamwork } from "../teamwork.ts";
import type { Beat } from "../work/heart.ts";

type TeamCommand =
  | { readonly kind: "list" | "briefing" | "review" | "housekeeping" }
  | { readonly kind: "status" | "tick"; readonly agent: string | undefined }
  | { readonly kind: "adopt"; readonly agent: string }
  | {
      readonly kind: "dispatch";
      readonly agent: string;
      readonly title: string;
      readonly body: string | undefined;
    };

export const TEAM_USAGE = `!team: what everyone is working on
!team list
!team status [member]
!team dispatch <member>: <title>, with the body on the lines below
!team tick [member]
!team adopt <member>: have Cortex work on its tasks
!team briefing
!team review
!team housekeeping`;

/** Undefined: not a team command. Throws `usage` for a malformed one. */
export function parseTeamCommand(text: string): TeamCommand | undefined {
  const command = /^[!/]team(?:\s+(?<word>\S+)(?<args>[^]*))?$/i.exec(text.trim());
  if (command === null) return undefined;
  const { word = "", args = "" } = command.groups ?? {};
  const rest = args.trim();
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
      if (rest !== "") throw usage(`Unexpected "${rest}" after !team ${word}`);
      return { kind: word };
    case "adopt":
      if (rest === "") throw usage("!team adopt needs a member");
      return { kind: word, agent: rest };
    case "dispatch":
      return parseDispatch(rest);
    default:
      throw usage(`Unknown command "!team ${word}"`);
  }
}

/** `billing-dev: Add a webhook`, with the body on the lines below. */
function parseDispatch(text: string): TeamCommand {
  const [head = "", ...lines] = text.split("\n");
  const at = head.indexOf(":");
  const agent = head.slice(0, Math.max(at, 0)).trim();
  const title = head.slice(at + 1).trim();
  if (agent === "" || title === "") throw usage("!team dispatch needs a member, a colon and a title");
  return { kind: "dispatch", agent, title, body: lines.join("\n").trim() || undefined };
}

/** Of an invalid command in an error message. */
const MAX_SHOWN = 200;

function usage(problem: string): CortexError {
  const shown = problem.length > MAX_SHOWN ? `${problem.slice(0, MAX_SHOWN).toWellFormed()}…` : problem;
  return new CortexError("usage", shown, { hint: `Use one of these:\n${TEAM_USAGE}` });
}

export async function carryOutTeam(
  command: TeamCommand,
  caller: Caller | undefined,
  team: Teamwork,
): Promise<string> {
  switch (command.kind) {
    case "list":
      return (await describing()).describeMembers(await team.status());
    case "status":
      return (await describing()).describeTeamStatus(await team.status(), command.agent);
    case "dispatch": {
      const { agent, title, body } = command;
      const task = await team.dispatch({ agent, title, ...(body === undefined ? {} : { body }) });
      return `${task.agent} has the task "${task.title}". It starts at its next heartbeat; \`!team tick ${task.agent}\` starts it now.`;
    }
    case "adopt": {
      requireScope(caller ?? OWNER_CALLER, "approve"); // as over HTTP
      const { describeAdoption } = await import("../members/adopt-member.ts");
      return describeAdoption(await team.adopt(command.agent));
    }
    case "tick": {
      const { members } = await team.tick(command.agent);
      return members.length === 0 ? (await describing()).NO_MEMBERS : members.map(describeBeat).join("\n");
    }
    case "briefing":
      return (await team.briefing()).text;
    case "review":
      return (await team.review()).text;
    case "housekeeping": {
      const { formatHousekeeping } = await import("../reports/housekeeping.ts");
      return formatHousekeeping(await team.housekeeping());
    }
  }
}

/** Loaded on use: most homes have no team. */
function describing() {
  return import("../reports/describe.ts");
}

function describeBeat({ agent, state, task, detail }: Beat): string {
  const work = task === undefined ? "" : ` on "${task.title}"`;
  return `- **${agent}**: ${state}${work}${detail === undefined ? "" : ` (${detail})`}`;
}

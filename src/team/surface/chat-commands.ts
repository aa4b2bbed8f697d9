/** What `!team …` does, and what it replies. */
import type { TeamCommand } from "./chat-command-syntax.ts";
import type { Beat } from "../work/heart.ts";
import type { Teamwork } from "../teamwork.ts";

export async function carryOutTeam(command: TeamCommand, team: Teamwork): Promise<string> {
  switch (command.kind) {
    case "list":
      return (await describing()).describeMembers(await team.status());
    case "status":
      return (await describing()).describeTeamStatus(await team.status(), command.agent);
    case "dispatch": {
      const { agent, title, body } = command;
      const task = await team.dispatch({ agent, title, ...(body === undefined ? {} : { body }) });
      return `${task.agent} has the task "${task.title}". It begins at its next heartbeat; \`!team tick ${task.agent}\` makes it begin now.`;
    }
    case "adopt": {
      const { describeAdoption } = await import("../members/adopt-member.ts");
      return describeAdoption(await team.adopt(command.agent));
    }
    case "tick":
      return describeBeats((await team.tick(command.agent)).members);
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

/** Loaded when somebody asks: many a Cortex has no team. */
function describing() {
  return import("../reports/describe.ts");
}

function describeBeats(beats: readonly Beat[]): string {
  if (beats.length === 0) return "Nobody is on the team yet.";
  return beats
    .map(({ agent, state, task, detail }) => {
      const what = task === undefined ? "" : ` on "${task.title}"`;
      return `- **${agent}**: ${state}${what}${detail === undefined ? "" : ` (${detail})`}`;
    })
    .join("\n");
}

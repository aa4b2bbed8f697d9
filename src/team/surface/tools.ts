/** The tools of a team: by one a worker gives a task back, by the others the coordinator does its work. */
import { z } from "zod";

import type { Ports } from "../../feature/ports.ts";
import { defineTool } from "../../model/define-tool.ts";
import { CortexError } from "../../model/errors.ts";
import { present } from "../../model/present.ts";
import type { Tool, ToolContext } from "../../model/tool.ts";
import type { Teamwork } from "../teamwork.ts";
import { FLAG_TOOL } from "../work/tool-names.ts";
import { causeOfTurn, isByPerson, isOnTask } from "./turn-origin.ts";

const MAX_NAME_LENGTH = 100;
const MAX_TITLE_LENGTH = 200;
const MAX_BODY_LENGTH = 100_000;
const MAX_REASON_LENGTH = 2_000;
/** Files are read or written; with git, programs are run. */
const TIMEOUT_MS = 60_000;

const line = (length: number) => z.string().trim().min(1).max(length);

/** They use the ports only when called, so they can be described without. */
export function createTeamTools(ports: () => Ports): Tool[] {
  return [flagTool(ports), ...readingTools(ports), ...taskTools(ports), ...memberTools(ports)].map((tool) =>
    Object.assign(tool, { isReserved: true as const }),
  );
}

/** The call itself does nothing: it is found in the turn once that has ended. */
function flagTool(ports: () => Ports): Tool {
  return defineTool({
    name: FLAG_TOOL,
    description:
      "Gives the task back that you work on, because you cannot do it or it does not fit your role. It stays in progress with the " +
      "reason, the coordinator is told, and nobody goes on with it until somebody has edited it.",
    parameters: z.strictObject({
      reason: line(MAX_REASON_LENGTH).describe("What is in the way, and what somebody has to do about it"),
    }),
    writes: true,
    repeatable: true,
    timeoutMs: TIMEOUT_MS,
    trust: {},
    async run({ reason }, context) {
      if (!(await isOnTask(context, ports()))) throw notOnTask();
      return {
        text: "The task is flagged when your turn is over. End it now.",
        details: { flagged: reason },
      };
    },
  });
}

/** The files are the owner's, and anyone who takes part writes to them. */
const OF_FILES = { untrusted: true, private: true } as const;

function readingTools(ports: () => Ports): Tool[] {
  const team = (): Promise<Teamwork> => ports().apis.team.open();
  const nothing = z.strictObject({});
  const reading = {
    parameters: nothing,
    writes: false,
    repeatable: true,
    timeoutMs: TIMEOUT_MS,
    trust: OF_FILES,
  };
  return [
    defineTool({
      ...reading,
      name: "list_team",
      description:
        "Lists the members of the team: slug, role, state (fresh, idle, down), what they have to do.",
      run: async () => ({ text: (await describing()).describeMembers(await (await team()).status()) }),
    }),
    defineTool({
      ...reading,
      name: "team_status",
      description:
        "Shows the tasks of the team by member: what is in progress, ready and done, and what is in the way. With agent, that " +
        "member's note and its tasks in full; with project, the note of that project.",
      parameters: z.strictObject({
        agent: line(MAX_NAME_LENGTH).optional().describe("The slug or name of a member"),
        project: line(MAX_NAME_LENGTH).optional().describe("The slug of a project"),
      }),
      async run({ agent, project }) {
        const { describeMember, describeProject, describeTeamStatus } = await describing();
        const now = await (await team()).status();
        if (agent === undefined && project === undefined) return { text: describeTeamStatus(now) };
        const texts = [
          ...(agent === undefined ? [] : [describeMember(now, agent)]),
          ...(project === undefined ? [] : [describeProject(now, project)]),
        ];
        return { text: texts.join("\n\n") };
      },
    }),
    defineTool({
      ...reading,
      name: "briefing",
      description:
        "The facts of the morning's briefing, computed from the files: who is fresh, what is in progress, blocked, coming.",
      run: async () => ({ text: (await (await team()).briefing()).text }),
    }),
    defineTool({
      ...reading,
      name: "review",
      description:
        "The facts of the evening's review, computed from the files: done today, blocked, planned for tomorrow.",
      run: async () => ({ text: (await (await team()).review()).text }),
    }),
  ];
}

/** An error may name members, and what is wrong with a file. */
const WRITING = { writes: true, timeoutMs: TIMEOUT_MS, trust: {}, errorTrust: OF_FILES } as const;

function taskTools(ports: () => Ports): Tool[] {
  const team = (): Promise<Teamwork> => ports().apis.team.open();
  return [
    defineTool({
      ...WRITING,
      name: "dispatch_task",
      description:
        "Gives a member a task, where a person has asked for it. The member begins with it at its next heartbeat and knows nothing " +
        "of this conversation: say all that it needs in the body.",
      parameters: z.strictObject({
        agent: line(MAX_NAME_LENGTH).describe("The slug or the name of the member"),
        title: line(MAX_TITLE_LENGTH),
        body: z.string().max(MAX_BODY_LENGTH).optional().describe("What is to be done, and when it is done"),
        template: line(MAX_TITLE_LENGTH).optional().describe("A relay template that the task is run with"),
        external: line(MAX_TITLE_LENGTH)
          .optional()
          .describe("The task file of another runner, which the task only reports on"),
      }),
      repeatable: false, // a second time would be a second task
      async run(wish, context) {
        await checkPerson(context, ports());
        const { memberOf } = await import("../members/dispatch-task.ts");
        const opened = await team();
        if (memberOf(wish.agent, await opened.status()).isCoordinator) throw ownTasks();
        const cause = await causeOfTurn(context, ports());
        const { agent, title } = await opened.dispatch(present(wish), cause);
        return {
          text: `${agent} has the task "${title}". It begins at its next heartbeat.`,
          details: { agent, title },
        };
      },
    }),
    defineTool({
      ...WRITING,
      name: "housekeeping",
      description:
        "Takes tasks out of the files that were done more than a week ago, and old entries of session logs, and commits that.",
      parameters: z.strictObject({}),
      trust: OF_FILES,
      repeatable: true,
      async run(_, context) {
        await checkPerson(context, ports());
        const { formatHousekeeping } = await import("../reports/housekeeping.ts");
        return { text: formatHousekeeping(await (await team()).housekeeping()) };
      },
    }),
  ];
}

function memberTools(ports: () => Ports): Tool[] {
  const team = (): Promise<Teamwork> => ports().apis.team.open();
  return [
    defineTool({
      ...WRITING,
      name: "register_agent",
      description: "Takes a new member into the team, where a person has asked for it.",
      parameters: z.strictObject({
        name: line(MAX_NAME_LENGTH),
        project: line(4_096).describe("The folder that it works in, which must be there"),
        role: line(1_000).optional().describe("What it does, in one line"),
        foreign: z.boolean().optional().describe("Somebody else runs it: Cortex gives it no turns"),
      }),
      repeatable: false,
      asks: "a new member may work in the folder that is named",
      async run({ name, project, role, foreign }, context) {
        await checkPerson(context, ports());
        const { slug } = await (await team()).register({ name, project, role, isForeign: foreign });
        return { text: `${name} is on the team as ${slug}.`, details: { slug } };
      },
    }),
    defineTool({
      ...WRITING,
      name: "adopt_agent",
      description:
        "Has Cortex work on the tasks of a member that runs elsewhere or nowhere, where a person has asked for it.",
      parameters: z.strictObject({
        agent: line(MAX_NAME_LENGTH).describe("The slug or the name of the member"),
      }),
      trust: OF_FILES,
      repeatable: true,
      asks: "Cortex will work in the folder that the member's note names",
      async run({ agent }, context) {
        await checkPerson(context, ports());
        const { describeAdoption } = await import("../members/adopt-member.ts");
        const adopted = await (await team()).adopt(agent);
        return { text: describeAdoption(adopted), details: { slug: adopted.slug } };
      },
    }),
  ];
}

/** Loaded with the first call: every Cortex has these tools, but many have no team. */
function describing() {
  return import("../reports/describe.ts");
}

async function checkPerson(context: ToolContext, ports: Ports): Promise<void> {
  if (await isByPerson(context, ports)) return;
  throw new CortexError(
    "tool_input_invalid",
    "No person has asked for this: the message came from elsewhere",
    {
      hint: "Tell the owner what you would do, and do it when they say so.",
    },
  );
}

function ownTasks(): CortexError {
  return new CortexError("tool_input_invalid", "Only people give the coordinator tasks", {
    hint: "Do it now, or give it to another member.",
  });
}

function notOnTask(): CortexError {
  return new CortexError("tool_input_invalid", "You work on no task now, and there is nothing to flag", {
    hint: "Say what is wrong in your answer instead.",
  });
}

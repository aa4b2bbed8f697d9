/** The tools of a team: one for workers to flag a task, the others for the coordinator. */
import { z } from "zod";

import { confine } from "../../agents/tools/confine.ts";
import { expandPath } from "../../config/team-config.ts";
import type { Ports } from "../../feature/ports.ts";
import { defineTool } from "../../model/define-tool.ts";
import { CortexError } from "../../model/errors.ts";
import { present } from "../../model/present.ts";
import type { Tool, ToolContext, ToolResult } from "../../model/tool.ts";
import { readTrust } from "../../model/trust.ts";
import type { Teamwork } from "../teamwork.ts";
import { MAX_NAME_LENGTH, OF_OTHER_PROGRAMS, type TeamMember } from "../files/team.ts";
import { MAX_BODY_LENGTH, MAX_TITLE_LENGTH } from "../markdown/task.ts";
import { FLAG_TOOL } from "../work/tool-names.ts";
import { isByPerson, isOnTask, originOfTask } from "./turn-origin.ts";

const MAX_REASON_LENGTH = 2_000;
/** Long enough for many files, and for git. */
const TIMEOUT_MS = 60_000;

const line = (length: number) => z.string().trim().min(1).max(length);

/** The tools use the ports only when called, so they can be described without them. */
export function createTeamTools(ports: () => Ports): Tool[] {
  const team: OpenTeam = () => ports().apis.team.open();
  const tools = [
    flagTool(ports),
    ...readingTools(team),
    ...taskTools(ports, team),
    ...memberTools(ports, team),
  ];
  return tools.map((tool) => Object.assign(tool, { isReserved: true as const }));
}

/** The call itself does nothing: `readTurnEnd` finds it once the turn has ended. */
function flagTool(ports: () => Ports): Tool {
  return defineTool({
    name: FLAG_TOOL,
    description:
      "Flags the task that you are working on, because you cannot do it or it does not fit your role. It stays in progress with " +
      "the reason, the coordinator is notified, and members skip it until it is edited.",
    parameters: z.strictObject({
      reason: line(MAX_REASON_LENGTH).describe("What blocks you, and what needs to be done about it"),
    }),
    writes: true,
    repeatable: true,
    timeoutMs: TIMEOUT_MS,
    trust: {},
    async run({ reason }, context) {
      if (!(await isOnTask(context, ports()))) throw notOnTask();
      return {
        text: "The task will be flagged when your turn ends. End it now.",
        details: { flagged: reason },
      };
    },
  });
}

/** At most: the files are private to the owner, and every team member writes to them. */
const OF_FILES = { untrusted: true, private: true } as const;

type OpenTeam = () => Promise<Teamwork>;

function readingTools(team: OpenTeam): Tool[] {
  const reading = {
    parameters: z.strictObject({}),
    writes: false,
    repeatable: true,
    timeoutMs: TIMEOUT_MS,
    trust: OF_FILES,
    errorTrust: OF_FILES,
    labels: true as const,
  };
  return [
    defineTool({
      ...reading,
      name: "list_team",
      description: "Lists the members of the team: slug, role, state (fresh, idle, down), task counts.",
      async run() {
        const { describeMembers } = await describing();
        const opened = await team();
        return labelled(opened, describeMembers(await opened.status()));
      },
    }),
    defineTool({
      ...reading,
      name: "team_status",
      description:
        "Shows the team's tasks by member: in progress, ready, done, and blockers. With agent, that member's note and tasks in " +
        "full; with project, the note of that project.",
      parameters: z.strictObject({
        agent: line(MAX_NAME_LENGTH).optional().describe("Slug or name of a member"),
        project: line(MAX_NAME_LENGTH).optional().describe("Slug of a project"),
      }),
      async run({ agent, project }) {
        const { describeMember, describeProject, describeTeamStatus } = await describing();
        const opened = await team();
        const now = await opened.status();
        if (agent === undefined && project === undefined) return labelled(opened, describeTeamStatus(now));
        const texts = [
          ...(agent === undefined ? [] : [describeMember(now, agent)]),
          ...(project === undefined ? [] : [describeProject(now, project)]),
        ];
        return labelled(opened, texts.join("\n\n"));
      },
    }),
    defineTool({
      ...reading,
      name: "briefing",
      description:
        "Returns the facts of the morning briefing from the files: fresh members; work in progress, blocked and upcoming.",
      async run() {
        const opened = await team();
        return labelled(opened, (await opened.briefing()).text);
      },
    }),
    defineTool({
      ...reading,
      name: "review",
      description:
        "Returns the facts of the evening review from the files: done today, blocked, planned for tomorrow.",
      async run() {
        const opened = await team();
        return labelled(opened, (await opened.review()).text);
      },
    }),
  ];
}

async function labelled(team: Teamwork, text: string): Promise<ToolResult> {
  return { text, label: await team.label() };
}

/** Errors may name members, and problems with a file. */
const WRITING = { writes: true, timeoutMs: TIMEOUT_MS, trust: {}, errorTrust: OF_FILES } as const;

function taskTools(ports: () => Ports, team: OpenTeam): Tool[] {
  return [
    defineTool({
      ...WRITING,
      name: "dispatch_task",
      description:
        "Gives a member a task, if a person has asked for it. The member starts it at its next heartbeat and knows nothing of this " +
        "conversation: put everything it needs into the body.",
      parameters: z.strictObject({
        agent: line(MAX_NAME_LENGTH).describe("Slug or name of the member"),
        title: line(MAX_TITLE_LENGTH),
        body: z.string().max(MAX_BODY_LENGTH).optional().describe("Instructions, and criteria for done"),
        template: line(MAX_TITLE_LENGTH).optional().describe("Relay template to run the task with"),
        external: line(MAX_TITLE_LENGTH)
          .optional()
          .describe("Task file of another runner whose progress the task reports"),
      }),
      repeatable: false, // it would add a second task
      async asksForOthers({ agent }, context) {
        await checkPerson(context, ports());
        const { memberOf } = await import("../members/dispatch-task.ts");
        const { isManaged, slug } = memberOf(agent, await (await team()).status());
        const { untrusted } = readTrust((await ports().store.sessions.get(context.session))?.settings ?? {});
        // Such programs see the team's files anyway, and only they wrote them.
        const isOfTeam = untrusted.every((author) => OF_OTHER_PROGRAMS.untrusted.includes(author));
        return isManaged || isOfTeam ? undefined : FOREIGN_MEMBER(slug);
      },
      async run(wish, context) {
        await checkPerson(context, ports());
        const { memberOf } = await import("../members/dispatch-task.ts");
        const opened = await team();
        const member = memberOf(wish.agent, await opened.status());
        if (member.isCoordinator) throw ownTasks();
        if (wish.external !== undefined) await checkExternal(wish.external, member, opened, context);
        const origin = await originOfTask(context, ports());
        const { agent, title } = await opened.dispatch(present(wish), origin);
        return {
          text: `${agent} has the task "${title}". It starts at its next heartbeat.`,
          details: { agent, title },
        };
      },
    }),
    defineTool({
      ...WRITING,
      name: "housekeeping",
      description:
        "Removes tasks that were done more than a week ago and old session log entries, and commits the change.",
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

const FOREIGN_MEMBER = (slug: string): string =>
  `another program runs ${slug}, without labels and without a sandbox`;

/** The progress of a task tells whether the file exists and what it holds. Throws `path_forbidden`. */
async function checkExternal(
  path: string,
  { note }: TeamMember,
  { directory: { root, user } }: Teamwork,
  context: ToolContext,
): Promise<void> {
  const project = expandPath(note.project ?? "", { user, from: root });
  const roots = [context.workspace, ...context.roots];
  await confine(expandPath(path, { user, from: project }), { ...context, workspace: project, roots }, "read");
}

function memberTools(ports: () => Ports, team: OpenTeam): Tool[] {
  return [
    defineTool({
      ...WRITING,
      name: "register_agent",
      description: "Adds a member to the team, if a person has asked for it.",
      parameters: z.strictObject({
        name: line(MAX_NAME_LENGTH),
        project: line(4_096).describe("The folder it works in, which must exist"),
        role: line(1_000).optional().describe("Its role, in one line"),
        foreign: z.boolean().optional().describe("Another program runs it: Cortex gives it no turns"),
      }),
      repeatable: false,
      asks: "a new member may work in the given folder",
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
        "Has Cortex run a member that another program runs or that nothing runs, if a person has asked for it.",
      parameters: z.strictObject({ agent: line(MAX_NAME_LENGTH).describe("Slug or name of the member") }),
      trust: OF_FILES,
      repeatable: true,
      asks: "Cortex will work in the folder named in the member's note",
      async run({ agent }, context) {
        await checkPerson(context, ports());
        const { describeAdoption } = await import("../members/adopt-member.ts");
        const adopted = await (await team()).adopt(agent);
        return { text: describeAdoption(adopted), details: { slug: adopted.slug } };
      },
    }),
  ];
}

/** Loaded on use: every Cortex has these tools, but most have no team. */
function describing() {
  return import("../reports/describe.ts");
}

async function checkPerson(context: ToolContext, ports: Ports): Promise<void> {
  if (await isByPerson(context, ports)) return;
  throw new CortexError(
    "tool_input_invalid",
    "Only a person can request this, and this message is not from a person",
    {
      hint: "Tell the owner what you would do, and do it when they ask for it.",
    },
  );
}

function ownTasks(): CortexError {
  return new CortexError("tool_input_invalid", "Only people can give the coordinator tasks", {
    hint: "Do it now, or dispatch it to another member.",
  });
}

function notOnTask(): CortexError {
  return new CortexError("tool_input_invalid", "No task in progress, so nothing to flag", {
    hint: "Report the problem in your answer instead.",
  });
}

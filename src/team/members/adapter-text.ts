/**
 * What an agent of another runtime is told: who it is in the team, how the files are read and changed, and the rules.
 * It has to do without knowing anything of Cortex, and without a Cortex that runs.
 */
import {
  coordinatorFunctions,
  editFunction,
  shellQuote,
  tickFunction,
  workerFunctions,
} from "./adapter-shell.ts";
import { oneLine } from "../markdown/block-text.ts";

export interface AdapterMember {
  readonly slug: string;
  readonly name: string;
  /** Absolute, as all paths here. */
  readonly project: string;
  readonly teamRoot: string;
  readonly isCoordinator: boolean;
}

export interface Rhythm {
  readonly heartbeatMinutes: number;
  /** Local times; undefined: never. */
  readonly dailyBriefing?: string | undefined;
  readonly dailyReview?: string | undefined;
}

/** As liveness has it: the shortest time after which a tick is old. */
const MIN_STALE_MINUTES = 30;

/** `file` is where the text stands; `run` the command line of a runtime that can be run for one prompt. */
export function protocolText(
  identity: AdapterMember,
  rhythm: Rhythm,
  { file, run }: { file: string; run: string | undefined },
): string {
  const { isCoordinator } = identity;
  const prompt = tickPrompt(identity, file);
  return [
    introduction(identity),
    TASK_FILE,
    isCoordinator ? coordinatorDuties(identity, rhythm) : workerDuties(identity),
    shell(identity),
    heartbeat(prompt, rhythm, run),
    isCoordinator ? COORDINATOR_RULES : WORKER_RULES,
  ].join("\n\n");
}

/** What a heartbeat says. Workers and the coordinator begin differently: only workers are left alone while idle. */
function tickPrompt({ isCoordinator, teamRoot, slug }: AdapterMember, file: string): string {
  return isCoordinator
    ? `Cortex custom: look after the team in ${teamRoot}, as ${file} says.`
    : `Cortex tick: read ${teamRoot}/agents/${slug}/tasks.md and continue working, as ${file} says. You may be resuming.`;
}

function introduction({ name, slug, project, teamRoot, isCoordinator }: AdapterMember): string {
  const who = isCoordinator ? "the coordinator" : "a member";
  return `## Cortex

You are **${oneLine(name)}**, ${who} of a team of agents. The team works through a folder of markdown files, and through nothing else.

- Team directory: ${teamRoot}
- Your note: ${teamRoot}/agents/${slug}/${slug}.md
- Your tasks: ${teamRoot}/agents/${slug}/tasks.md
- Your project: ${project}

At the start of a session, read your note: your role, your projects, what you can do. Then read the notes of your
projects in ${teamRoot}/projects/.`;
}

const TASK_FILE = `### Task files

\`\`\`\`markdown
## Add a webhook
**Status:** done
**Started:** 2026-03-28T10:15
**Completed:** 2026-03-28T11:42

What to do, in any words.

### Summary
What was done.

<!-- cortex:last-tick 2026-03-28T11:42 -->
\`\`\`\`

- A heading of two \`#\` with a status line right below it is a task; its text goes on to the next such heading. Anything else in the file is not yours to touch. A heading in a code block is none.
- The status goes from \`ready\` to \`in-progress\` to \`done\`, and never back. Only a \`ready\` task may be claimed, the first one in the file first, and one at a time.
- Times are local, \`YYYY-MM-DDTHH:MM\`.
- The tick comment stands once, at the end.
- Other agents and people change the same file at the same time. Change only the lines of your task, and never write back a file that you read earlier.
- Whoever changes the file holds its lock: a file \`.tasks.md.lock\` beside it (of any other file, \`.<name>.lock\`), made only if there is none (\`set -o noclobber\`), with \`<pid> <host> <time>\` in it, removed right after. A lock whose process is gone, or that is older than 30 seconds, is nobody's. Never hold it while you work.
- Where you can only edit files: wait while the lock is there, read the file, change those lines with one small edit, then read it again and repeat the edit if it is gone.`;

function workerDuties({ slug }: AdapterMember): string {
  return `### Your work

1. A task of yours is \`in-progress\`: go on with it. It may have been begun in another session: read what its text says about progress. Only where the tick comment is fresh and not from you, another session is at it right now: leave that task alone.
2. Then claim the first \`ready\` one: set \`**Status:** in-progress\` and add \`**Started:** <now>\` below it. If it is not \`ready\` any more when you hold the lock, somebody else has it: take the next.
3. Do the work in your project. Write what a later session needs to know into the text of the task.
4. When it is done: set \`**Status:** done\`, add \`**Completed:** <now>\` below \`**Started:**\`, and a \`### Summary\` at the end of the task.
5. A task with a line \`**External:** <file>\`, or called "Execute Shuttle tasks — report status" (then it is \`.shuttle.md\` in your project), stands for that task file, which another runner works on. Do none of its work and never change it: write \`Progress: <n> of <m> done\` into the text of your task, and finish your task when nothing in that file is \`ready\` or \`in-progress\` any more. If the file is missing, say so in your session log.
6. Go on with the next \`ready\` task. With none left, stop.
7. Write the tick comment anew at the end of the file whenever you look for work and have some, and every few minutes during long work.
8. At the end, put two lines at the top of \`## Session Log\` in agents/${slug}/${slug}.md: \`Last session: <date>\` and \`Status: <how it stands, and what is in the way>\`.`;
}

function coordinatorDuties({ slug }: AdapterMember, rhythm: Rhythm): string {
  const { heartbeatMinutes, dailyBriefing, dailyReview } = rhythm;
  const staleMinutes = Math.max(MIN_STALE_MINUTES, 2 * heartbeatMinutes);
  const briefing = dailyBriefing === undefined ? "Briefing, when asked" : `Daily briefing, ${dailyBriefing}`;
  const review = dailyReview === undefined ? "Review, when asked" : `Daily review, ${dailyReview}`;
  return `### Your work

1. Read all agents/*/tasks.md, the notes beside them, and projects/*.md.
2. Dispatch what the user tells you to: add the task at the end of the member's tasks.md, before the tick comment: \`## <title>\`, \`**Status:** ready\`, an empty line, what to do. Members whose note says \`status: inactive\` get none.
3. A tick older than ${staleMinutes} minutes: with tasks that are \`ready\` or \`in-progress\` the member is likely down, so tell the user; with none it is idle, which is fine.
4. Tell the user what is in the way of somebody, as their session logs say.
5. ${briefing}: who is active, what is in progress, what is blocked, what comes next.
6. ${review}: what got done today, what is blocked, what is planned for tomorrow. Then remove tasks that were completed more than 7 days ago, keep the latest entry of each session log, and commit just that: \`chore: prune completed tasks and old session logs\`.
7. Write the tick comment anew at the end of agents/${slug}/tasks.md each time.`;
}

function shell({ slug, teamRoot, isCoordinator }: AdapterMember): string {
  const own = isCoordinator ? coordinatorFunctions() : workerFunctions(slug);
  const use = isCoordinator
    ? "`dispatch billing-dev 'Add a webhook' 'What to do.'`, `tick`"
    : "`take`, `finish 'Add a webhook' 'What was done.'`, `tick`";
  return `### With a shell

These do the edits under the lock: ${use}. Define them in the same command that calls them.

\`\`\`sh
${[editFunction(teamRoot), own, tickFunction(slug)].join("\n\n")}
\`\`\``;
}

function heartbeat(prompt: string, { heartbeatMinutes }: Rhythm, run: string | undefined): string {
  const loop =
    run === undefined
      ? ""
      : `\n\n\`\`\`sh\nwhile true; do ${run} ${shellQuote(prompt)}; sleep ${heartbeatMinutes * 60}; done\n\`\`\``;
  return `### Heartbeat

Every ${heartbeatMinutes} minutes: \`${prompt}\` Before you start one, look at the tick comment: if it is younger than that, another session may be at work, so ask.${loop}`;
}

const WORKER_RULES = `### Rules

- Members do not talk to each other. The coordinator dispatches, you execute; you add no tasks, neither for yourself nor for others.
- A task that is outside your role: leave it, and say so in your session log. The same goes for whatever blocks you.
- The user is the authority.`;

const COORDINATOR_RULES = `### Rules

- You reach the members through their task files only, and do none of their work.
- You dispatch what the user has asked for; you approve no tasks of your own and add none to your own file.
- You never change a task that somebody has claimed.`;

/** Tells our script from one of the same name that somebody else has written. */
export const PRECHECK_MARK = "# Written by `cortex team adapter`";

/**
 * A hook of Claude Code that sees each prompt first. Heartbeats of a worker that has nothing to do end here, before a
 * model is asked; when in doubt, they pass.
 */
export function precheckScript({ slug, tasks }: { slug: string; tasks: string }): string {
  return `#!/bin/sh
${PRECHECK_MARK} for ${slug}; \`cortex team leave ${slug}\` removes it.
# Blocks "Cortex tick:" prompts while no task is ready or in progress. Any other prompt passes.
tasks=${shellQuote(tasks)}

command -v jq >/dev/null 2>&1 || exit 0
case "$(jq -r '.prompt // empty' 2>/dev/null)" in
  "Cortex tick:"*) ;;
  *) exit 0 ;;
esac

[ -e "$tasks" ] && grep -Eq '^[[:space:]]*\\*\\*Status:\\*\\*[[:space:]]*(ready|in-progress)[[:space:]]*(<!--|$)' "$tasks"
[ $? -eq 1 ] || exit 0
echo '{"decision":"block","reason":"No active tasks"}' >&2
exit 2
`;
}

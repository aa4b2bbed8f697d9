/**
 * Instructions for agents of other runtimes: who they are in the team, how to read and change the files, and the rules. They
 * must work without any knowledge of Cortex, and without a running Cortex.
 */
import {
  coordinatorFunctions,
  editFunction,
  shellQuote,
  tickFunction,
  workerFunctions,
} from "./adapter-shell.ts";
import { MINUTE_MS } from "../../model/durations.ts";
import { staleAfterMs } from "../files/liveness.ts";
import { oneLine } from "../markdown/block-text.ts";

export interface AdapterMember {
  readonly slug: string;
  readonly name: string;
  /** All paths are absolute. */
  readonly project: string;
  readonly teamRoot: string;
  readonly isCoordinator: boolean;
}

export interface Rhythm {
  readonly heartbeatMinutes: number;
  /** Local times. Undefined: never. */
  readonly dailyBriefing?: string | undefined;
  readonly dailyReview?: string | undefined;
}

/** `file` is the file the text is written to, `run` the command line that runs the runtime for one prompt. */
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

/** The prompt of a heartbeat. Its prefix tells workers from the coordinator: only workers are skipped while idle. */
function tickPrompt({ isCoordinator, teamRoot, slug }: AdapterMember, file: string): string {
  return isCoordinator
    ? `Cortex custom: look after the team in ${teamRoot}, as ${file} says.`
    : `Cortex tick: read ${teamRoot}/agents/${slug}/tasks.md and continue working, as ${file} says. You may be resuming.`;
}

function introduction({ name, slug, project, teamRoot, isCoordinator }: AdapterMember): string {
  const who = isCoordinator ? "the coordinator" : "a member";
  return `## Cortex

You are **${oneLine(name)}**, ${who} of a team of agents. The team works only through a folder of Markdown files.

- Team directory: ${teamRoot}
- Your note: ${teamRoot}/agents/${slug}/${slug}.md
- Your tasks: ${teamRoot}/agents/${slug}/tasks.md
- Your project: ${project}

At the start of a session, read your note: your role, your projects, your capabilities. Then read the notes of your
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

- A \`##\` heading with a status line right below it is a task; its text extends to the next \`##\` heading. Do not touch anything else in the file. A heading in a code block is not a task.
- The status goes from \`ready\` to \`in-progress\` to \`done\`, and never back. Claim only \`ready\` tasks, in file order, one at a time.
- Times are local, \`YYYY-MM-DDTHH:MM\`.
- The tick comment appears once, at the end.
- Other agents and people change the same file at the same time. Change only the lines of your task, and never write back a file that you read earlier.
- Hold the lock of the file while you change it: a file \`.tasks.md.lock\` next to it (for any other file, \`.<name>.lock\`), created only if it does not exist (\`set -o noclobber\`), containing \`<pid> <host> <time>\`, removed right after. A lock is stale if its process is gone or it is older than 30 seconds. Never hold it while you work.
- If you can only edit files: wait while the lock exists, read the file, change those lines with one small edit, then read it again and repeat the edit if it is gone.`;

function workerDuties({ slug }: AdapterMember): string {
  return `### Your work

1. If a task of yours is \`in-progress\`, continue it. It may have been started in another session: read the progress noted in its text. But if the tick comment is fresh and not yours, another session is working on the task right now: leave it alone.
2. Then claim the first \`ready\` task: set \`**Status:** in-progress\` and add \`**Started:** <now>\` below it. If it is no longer \`ready\` when you hold the lock, another session has it: take the next.
3. Do the work in your project. Write what a later session needs to know into the text of the task.
4. When it is done: set \`**Status:** done\`, add \`**Completed:** <now>\` below \`**Started:**\`, and a \`### Summary\` at the end of the task.
5. A task with a line \`**External:** <file>\`, or titled "Execute Shuttle tasks — report status" (then the file is \`.shuttle.md\` in your project), mirrors that task file, which another runner works on. Do none of its work and never change it: write \`Progress: <n> of <m> done\` into the text of your task, and finish your task when nothing in that file is \`ready\` or \`in-progress\`. If the file is missing, say so in your session log.
6. Continue with the next \`ready\` task. If none is left, stop.
7. Update the tick comment at the end of the file whenever you look for work and have some, and every few minutes during long work.
8. At the end, add two lines at the top of \`## Session Log\` in agents/${slug}/${slug}.md: \`Last session: <date>\` and \`Status: <state of the work, and any blocker>\`.`;
}

function coordinatorDuties({ slug }: AdapterMember, rhythm: Rhythm): string {
  const { heartbeatMinutes, dailyBriefing, dailyReview } = rhythm;
  const staleMinutes = staleAfterMs(heartbeatMinutes) / MINUTE_MS;
  const briefing = dailyBriefing === undefined ? "Briefing, when asked" : `Daily briefing, ${dailyBriefing}`;
  const review = dailyReview === undefined ? "Review, when asked" : `Daily review, ${dailyReview}`;
  return `### Your work

1. Read all agents/*/tasks.md, the notes next to them, and projects/*.md.
2. Dispatch what the user tells you to: add the task at the end of the member's tasks.md, before the tick comment: \`## <title>\`, \`**Status:** ready\`, a blank line, the instructions. Members whose note says \`status: inactive\` get no tasks.
3. If a tick is older than ${staleMinutes} minutes: with \`ready\` or \`in-progress\` tasks the member is likely down, so tell the user; without, it is idle, which is fine.
4. Tell the user about blockers in the members' session logs.
5. ${briefing}: who is active, what is in progress, what is blocked, what comes next.
6. ${review}: what got done today, what is blocked, what is planned for tomorrow. Then remove tasks that were completed more than 7 days ago, keep the latest entry of each session log, and commit just that: \`chore: prune completed tasks and old session logs\`.
7. Update the tick comment at the end of agents/${slug}/tasks.md each time.`;
}

function shell({ slug, teamRoot, isCoordinator }: AdapterMember): string {
  const own = isCoordinator ? coordinatorFunctions() : workerFunctions(slug);
  const use = isCoordinator
    ? "`dispatch billing-dev 'Add a webhook' 'What to do.'`, `tick`"
    : "`take`, `finish 'Add a webhook' 'What was done.'`, `tick`";
  return `### With a shell

These functions edit under the lock: ${use}. Define them in the same command that calls them.

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

Every ${heartbeatMinutes} minutes: \`${prompt}\` Before you start one, look at the tick comment: if it is more recent than that, another session may be at work, so ask.${loop}`;
}

const WORKER_RULES = `### Rules

- Members do not talk to each other. The coordinator dispatches, you execute. Add no tasks, for yourself or for others.
- Leave a task that is outside your role, and say so in your session log. Report blockers there too.
- The user is the authority.`;

const COORDINATOR_RULES = `### Rules

- Reach the members only through their task files, and do none of their work.
- Dispatch only what the user has asked for; approve no tasks of your own and add none to your own file.
- Never change a task that has been claimed.`;

/** Distinguishes our script from another one of the same name. */
export const PRECHECK_MARK = "# Written by `cortex team adapter`";

/**
 * A Claude Code hook that runs before each prompt. It stops heartbeats of an idle worker before the model is called; when in
 * doubt, they pass.
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

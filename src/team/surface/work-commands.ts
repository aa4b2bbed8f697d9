/** Gives a team work: tasks and heartbeats; and clears up after it. */
import { CortexError } from "../../model/errors.ts";
import { present } from "../../model/present.ts";
import { dispatchTask } from "../members/dispatch-task.ts";
import { formatHousekeeping, housekeep } from "../reports/housekeeping.ts";
import type { BeatView } from "./views.ts";
import { withNulls } from "./with-nulls.ts";
import { ask } from "../../client/ask.ts";
import { type Invocation, text } from "../../feature/command.ts";
import { findServer, type RunningServer } from "../../client/server.ts";
import { needOrStartServer } from "../../client/start-server.ts";
import { openTeam } from "./look-commands.ts";
import { harmless, table } from "../../terminal/text.ts";

/** Written into the file of the member, where a server finds it as well as any other runner. */
export async function dispatch(given: Invocation): Promise<void> {
  const { args, home, print } = given;
  const [agent, title, words] = args;
  const body = words === "-" ? await readInput() : words;
  const template = text(given, "template");
  const external = text(given, "external");
  const team = await openTeam(given);
  const wish = { agent: agent!, title: title!, ...present({ body, template, external }) };
  const task = await dispatchTask(wish, await team.read(), team.folder);
  print.data(task, () => harmless(`${task.agent} has the task "${task.title}", in ${task.file}.`));
  const { members } = await team.read();
  const isManaged = members.some(({ slug, isManaged }) => slug === task.agent && isManaged);
  if (print.json || !isManaged) return;
  print.note(
    (await findServer(home)) === undefined
      ? "No server runs: `cortex up` starts one, and the task is begun then."
      : `It is begun at the next heartbeat; \`cortex team tick ${task.agent}\` begins it now.`,
  );
}

export async function tick(given: Invocation): Promise<void> {
  const { args, print } = given;
  const server = await needOrStartServer(given);
  await requireSameTeam(given, server);
  const reply = await ask(server, { method: "POST", path: "/api/team/tick", body: { agent: args[0] } });
  const { members } = reply.body as unknown as { members: readonly BeatView[] };
  print.data({ members }, () =>
    members.length === 0
      ? "Nobody is on the team yet."
      : harmless(
          table(
            members.map(({ agent, state, task, detail }) => [
              agent,
              state,
              task?.title ?? (state === "idle" ? "has nothing to do" : ""),
              detail ?? "",
            ]),
          ),
        ),
  );
}

export async function housekeeping(given: Invocation): Promise<void | false> {
  const { folder, clock, timezone, reader } = await openTeam(given);
  const { environment } = given;
  const report = await housekeep(folder, await reader.read(), { nowMs: clock(), timezone, environment });
  given.print.data(withNulls(report), () =>
    [
      ...report.removed.map(({ slug, title, completed }) =>
        harmless(`Removed ${slug}: ${title} (done ${completed})`),
      ),
      ...report.trimmed.map((slug) => `Trimmed the session log of ${slug}`),
      harmless(formatHousekeeping(report)),
    ].join("\n"),
  );
  return report.isPostponed || report.failed.length > 0 ? false : undefined;
}

/** The server has settings of its own: what was typed here does not change where it works. */
async function requireSameTeam(given: Invocation, server: RunningServer): Promise<void> {
  if (text(given, "teamDir") === undefined) return;
  const [{ root }, reply] = await Promise.all([
    openTeam(given),
    ask(server, { path: "/api/team?tasks=none" }),
  ]);
  const { root: served } = reply.body as unknown as { root: string };
  if (root === served) return;
  throw new CortexError("state_conflict", `The server works on the team in ${served}, not in ${root}`, {
    hint: "Leave --team-dir out, or start the server with it: `cortex up --team-dir <folder>`.",
  });
}

async function readInput(): Promise<string> {
  let input = "";
  for await (const chunk of process.stdin.setEncoding("utf8")) input += chunk as string;
  return input;
}

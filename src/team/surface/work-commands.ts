/** Commands that give a team work: tasks and heartbeats; and housekeeping. */
import { CortexError } from "../../model/errors.ts";
import { present } from "../../model/present.ts";
import { dispatchTask } from "../members/dispatch-task.ts";
import { formatHousekeeping, housekeep } from "../reports/housekeeping.ts";
import { NO_MEMBERS } from "../reports/describe.ts";
import type { BeatView } from "./schemas.ts";
import { withNulls } from "./views.ts";
import { ask } from "../../client/ask.ts";
import { type Invocation, text } from "../../feature/command.ts";
import { findServer, type RunningServer } from "../../client/server.ts";
import { needOrStartServer } from "../../client/start-server.ts";
import { openTeam } from "./look-commands.ts";
import { harmless, table } from "../../terminal/text.ts";

/** Writes the task into the member's file, where any runner finds it. */
export async function assignTask(given: Invocation): Promise<void> {
  const { args, home, print } = given;
  const [agent = "", title = "", words] = args;
  const body = words === "-" ? await readInput() : words;
  const template = text(given, "template");
  const external = text(given, "external");
  const team = await openTeam(given);
  const wish = { agent, title, ...present({ body, template, external }) };
  const task = await dispatchTask(wish, await team.read(), team.folder);
  print.data(task, () => harmless(`${task.agent} has the task "${task.title}", in ${task.file}.`));
  const { members } = await team.read();
  const isManaged = members.some(({ slug, isManaged }) => slug === task.agent && isManaged);
  if (print.json || !isManaged) return;
  print.note(
    (await findServer(home)) === undefined
      ? "The task starts when the server does. Start it with `cortex up`."
      : `It starts at the next heartbeat; run \`cortex team tick ${task.agent}\` to start it now.`,
  );
}

export async function tick(given: Invocation): Promise<void> {
  const { args, print } = given;
  const server = await needOrStartServer(given);
  await requireSameTeam(given, server);
  const reply = await ask(server, { method: "POST", path: "/api/team/tick", body: { agent: args[0] } });
  const { members } = reply.body as unknown as { members: readonly BeatView[] };
  const rows = members.map(({ agent, state, task, detail }) => [
    agent,
    state,
    task?.title ?? (state === "idle" ? "nothing to do" : ""),
    detail ?? "",
  ]);
  print.data({ members }, () => (rows.length === 0 ? NO_MEMBERS : harmless(table(rows))));
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

/** The server has its own settings: --team-dir does not change where it works. */
async function requireSameTeam(given: Invocation, server: RunningServer): Promise<void> {
  if (text(given, "teamDir") === undefined) return;
  const [{ root }, reply] = await Promise.all([
    openTeam(given),
    ask(server, { path: "/api/team?tasks=none" }),
  ]);
  const { root: served } = reply.body as unknown as { root: string };
  if (root === served) return;
  throw new CortexError("state_conflict", `The server works on the team in ${served}, not in ${root}`, {
    hint: "Omit --team-dir, or start the server with it: `cortex up --team-dir <folder>`.",
  });
}

async function readInput(): Promise<string> {
  let input = "";
  for await (const chunk of process.stdin.setEncoding("utf8")) input += String(chunk);
  return input;
}

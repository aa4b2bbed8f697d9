/** A task that mirrors another runner's task file gets no turn; each tick only reports its progress. */
import { dateOf } from "../../model/day.ts";
import type { TaskEdit } from "../markdown/edit.ts";
import { expandPath } from "../../config/team-config.ts";
import { progressOf, readExternal, whyUseless } from "../files/external.ts";
import { flagOf, flagStatus, flagText } from "../markdown/flag.ts";
import type { MemberFiles } from "../members/member-files.ts";
import { refOf } from "./member-state.ts";
import { toStamp } from "../markdown/stamp.ts";
import type { Task } from "../markdown/task.ts";
import type { TeamDirectory } from "../files/team-directory.ts";

interface ExternalReport {
  /** open: its runner is still at work. lost: the file cannot be read, and the task is flagged. */
  readonly kind: "done" | "open" | "lost";
  readonly detail: string;
}

export async function reportExternal(
  member: MemberFiles,
  { task: found, path }: { readonly task: Task; readonly path: string },
  { folder, clock, timezone, user }: TeamDirectory,
): Promise<ExternalReport> {
  const nowMs = clock();
  const stamp = toStamp(nowMs, timezone);
  const edit = (change: TaskEdit) => folder.edit(member.tasksPath, { file: "tasks", edit: change });
  const log = (status: string) =>
    folder.edit(member.notePath, {
      file: "note",
      edit: { kind: "session", date: dateOf(nowMs, timezone), status },
    });
  const task = refOf(found.status === "ready" ? { ...found, started: stamp } : found);
  if (found.status === "ready") await edit({ kind: "claim", task: refOf(found), stamp });

  const project = expandPath(member.note.project ?? "", { user, from: folder.root });
  const external = await readExternal({ path, project, home: user });
  const flag = flagOf(found);
  if (external.kind !== "read") {
    const reason = whyUseless(external) ?? external.kind;
    if (flag?.reason !== reason) {
      await edit({ kind: "note", task, stamp, text: flagText(reason) });
      await log(flagStatus(found.title, reason));
    }
    return { kind: "lost", detail: reason };
  }
  const progress = progressOf(external);
  if (flag !== undefined) await edit({ kind: "note", task, stamp, text: `found ${external.path}` });
  await edit({ kind: "progress", task, text: progress });
  if (!external.isComplete) return { kind: "open", detail: progress };
  await edit({ kind: "complete", task, stamp, summary: `${progress} in ${external.path}.` });
  await log(`active — done: ${found.title}`);
  return { kind: "done", detail: progress };
}

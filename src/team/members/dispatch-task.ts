/** Gives a member a task, for people and for a coordinator that a person told to. */
import { CortexError } from "../../model/errors.ts";
import { memberUnknown } from "./member-files.ts";
import { present } from "../../model/present.ts";
import { type AddedTask, taskOfEdit } from "../files/restore-lost.ts";
import { slugOf } from "../markdown/slug.ts";
import type { Task, TaskRef } from "../markdown/task.ts";
import type { TeamFolder } from "../files/team-folder.ts";
import { findMember, type TeamMember, type Team } from "../files/team.ts";

export interface TaskWish {
  /** Slug or name of the member. */
  readonly agent: string;
  readonly title: string;
  readonly body?: string;
  /** The template of the relay that the task runs as. */
  readonly template?: string;
  /** The task file of another runner that the task mirrors. */
  readonly external?: string;
}

export interface DispatchedTask extends TaskRef {
  readonly agent: string;
  /** Relative to the team directory, with `/`. */
  readonly file: string;
}

/**
 * Throws `member_unknown`, `state_conflict` for a member who has left, and `request_invalid`. `remember` is called with the
 * task before it is in the file.
 */
export async function dispatchTask(
  wish: TaskWish,
  team: Team,
  folder: TeamFolder,
  remember?: (task: Task) => Promise<void>,
): Promise<DispatchedTask> {
  const { agent, title, body, template, external } = wish;
  const { slug, tasksPath, isInactive } = memberOf(agent, team);
  if (isInactive) throw hasLeft(slug);
  const text = body === undefined || body.trim() === "" ? undefined : body;
  const add: AddedTask = { kind: "add", title, ...present({ body: text, template, external }) };
  await folder.create(tasksPath, ""); // an existing file stays
  await remember?.(taskOfEdit(add));
  const { edit } = await folder.editFrom(tasksPath, () => ({ file: "tasks", edit: add }));
  const ordinal = edit?.edit.kind === "add" ? edit.edit.ordinal : undefined;
  return { agent: slug, title: title.trim(), ordinal: ordinal ?? 1, file: tasksPath };
}

/** A member by slug or name. Throws `member_unknown`. */
export function memberOf(name: string, team: Team): TeamMember {
  const bySlug = findMember(team, name.trim());
  if (bySlug !== undefined) return bySlug;
  const wanted = name.trim().toLowerCase();
  const byName = team.members.find(({ note }) => note.name.toLowerCase() === wanted);
  const member = byName ?? findMember(team, slugOf(name) ?? "");
  if (member === undefined) throw memberUnknown(name);
  return member;
}

function hasLeft(slug: string): CortexError {
  return new CortexError("state_conflict", `${slug} is inactive and cannot take tasks`, {
    hint: "To bring a member back, set `status: active` in its note.",
  });
}

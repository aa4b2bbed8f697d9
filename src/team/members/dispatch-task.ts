/** Gives a member a task: people do, and the coordinator where a person told it to. */
import { CortexError } from "../../model/errors.ts";
import { memberUnknown } from "./member-files.ts";
import { toSlug } from "../markdown/slug.ts";
import type { TaskRef } from "../markdown/task.ts";
import { gistOfAdded, type TeamFolder } from "../files/team-folder.ts";
import { findMember, type Member, type Team } from "../files/team.ts";

export interface TaskWish {
  /** The slug of the member, or its name. */
  readonly agent: string;
  readonly title: string;
  readonly body?: string;
  /** The relay template that it is run with. */
  readonly template?: string;
  /** The task file of another runner, which the task stands for. */
  readonly external?: string;
}

export interface DispatchedTask extends TaskRef {
  readonly agent: string;
  /** Below the team directory, with `/`. */
  readonly file: string;
}

/**
 * Throws `member_unknown`, `state_conflict` for somebody who has left, and `request_invalid`. `remember` is called with
 * the gist of the task before that is in the file.
 */
export async function dispatchTask(
  wish: TaskWish,
  team: Team,
  folder: TeamFolder,
  remember?: (gist: string) => Promise<void>,
): Promise<DispatchedTask> {
  const { agent, title, body, template, external } = wish;
  const { slug, tasksPath, isInactive } = memberOf(agent, team);
  if (isInactive) throw hasLeft(slug);
  const wanted = {
    kind: "add" as const,
    title,
    ...(body === undefined || body.trim() === "" ? {} : { body }),
    ...(template === undefined ? {} : { template }),
    ...(external === undefined ? {} : { external }),
  };
  await folder.create(tasksPath, ""); // where it is there, it stays as it is
  await remember?.(gistOfAdded({ file: "tasks", edit: wanted }));
  const { edit } = await folder.editFrom(tasksPath, () => ({ file: "tasks", edit: wanted }));
  const added = edit?.edit as typeof wanted & { readonly ordinal?: number };
  return { agent: slug, title: title.trim(), ordinal: added.ordinal ?? 1, file: tasksPath };
}

/** Somebody by slug or by name. */
export function memberOf(name: string, team: Team): Member {
  const bySlug = findMember(team, name.trim());
  if (bySlug !== undefined) return bySlug;
  const wanted = name.trim().toLowerCase();
  const byName = team.members.find(({ note }) => note.name.toLowerCase() === wanted);
  const member = byName ?? findMember(team, slugOf(name));
  if (member === undefined) throw memberUnknown(name);
  return member;
}

function slugOf(name: string): string {
  try {
    return toSlug(name);
  } catch {
    return ""; // nobody is called that
  }
}

function hasLeft(slug: string): CortexError {
  return new CortexError("state_conflict", `${slug} is inactive and takes no tasks`, {
    hint: "Somebody who has left is back with `status: active` in their note.",
  });
}

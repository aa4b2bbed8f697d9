/** Problems with the folders of a team, as opposed to problems within a file. */
import { REMOVED_FILE } from "./set-aside.ts";
import type { TeamProblem } from "./team.ts";

export function conflictCopy(file: string): TeamProblem {
  return {
    file,
    line: 1,
    rule: "conflict-copy",
    message: "conflict copy of a sync program: two machines changed the same file",
    hint: "Merge the differences into the original, then delete the copy.",
  };
}

export function noteMissing(folder: string, slug: string, names: readonly string[]): TeamProblem {
  const other = names.find(
    (name) => name.endsWith(".md") && name !== "tasks.md" && name !== REMOVED_FILE && !isConflictCopy(name),
  );
  return {
    file: folder,
    line: 1,
    rule: "note-missing",
    message: `the folder has no note ${slug}.md, so it is not a member`,
    hint:
      other === undefined
        ? "Add a member with `cortex team register`, or remove the folder."
        : `The note must be named after its folder: rename ${other} to ${slug}.md, or rename the folder.`,
  };
}

export function slugOdd(folder: string, slug: string, better: string | undefined): TeamProblem {
  return {
    file: folder,
    line: 1,
    rule: "slug-odd",
    message: `"${slug}" is not a valid slug`,
    hint: `Use lower-case letters, digits and hyphens${better === undefined ? "" : `, such as ${better}`}; rename the folder and the note together.`,
  };
}

export function tasksMissing(file: string): TeamProblem {
  return {
    file,
    line: 1,
    rule: "tasks-missing",
    message: "the member has no task file",
    hint: "An empty file is enough; dispatching the first task creates it.",
  };
}

export function taskRemoved(place: Pick<TeamProblem, "file" | "line">, title: string): TeamProblem {
  return {
    ...place,
    rule: "task-removed",
    message: `${JSON.stringify(title)} vanished from tasks.md: a person removed it, or a program saved an older copy`,
    hint: "It is inactive. Move it back to tasks.md with the status ready, or delete it here.",
  };
}

export function externalUseless(
  place: Pick<TeamProblem, "file" | "line">,
  kind: "missing" | "unreadable" | "read",
  why: string,
): TeamProblem {
  return {
    ...place,
    rule: kind === "read" ? "external-empty" : `external-${kind}`,
    message: `the task is waiting: ${why}`,
    hint: "Start the runner that writes the file, or correct the path; until then the task does not change.",
  };
}

export function tickAhead(file: string, { line, stamp }: { line: number; stamp: string }): TeamProblem {
  return {
    file,
    line,
    rule: "tick-ahead",
    message: `the last tick, ${stamp}, is in the future`,
    hint: "It counts as fresh until then. Compare the clocks and time zones of the machines that share this directory.",
  };
}

export function folderUnreadable(file: string, code: string): TeamProblem {
  return {
    file,
    line: 1,
    rule: "file-unreadable",
    message: `cannot read the folder (${code})`,
    hint: "Grant read permission to the account that runs Cortex.",
  };
}

export function linkOutside(file: string): TeamProblem {
  return {
    file,
    line: 1,
    rule: "link-outside",
    message: "the folder is a link that leads out of the team directory",
    hint: "Replace the link with the folder: Cortex reads and writes nothing outside the team directory.",
  };
}

/**
 * Sync programs write a second file if two machines changed the same one. Such a copy holds an edit: it is reported, never
 * read as a member or a task file, and never removed.
 */
const CONFLICT_COPIES: readonly RegExp[] = [
  // Dropbox: `tasks (Ann's conflicted copy 2026-03-28).md`; ownCloud, Nextcloud: `tasks (conflicted copy 2026-03-28 101500).md`.
  / \((?:[^()]{1,100} )?conflicted copy\b/i,
  // Dropbox, for names that differ only in case or encoding: `tasks (Case Conflict).md`, `tasks (Unicode Encoding Conflict 1).md`.
  / \((?:Case|Unicode Encoding|Selective Sync|Whitespace) Conflict(?: \d+)?\)/i,
  // Older ownCloud: `tasks_conflict-20260328-101500.md`.
  /_conflict-\d{8}-\d{6}/,
  // Syncthing: `tasks.sync-conflict-20260328-101500-ABCDEFG.md`.
  /\.sync-conflict-\d{8}-\d{6}(?:-[A-Z0-9]{7})?/,
  // Obsidian Sync: `tasks (Conflicted copy Laptop 202603281015).md` has the first shape; older: `tasks (conflict 2026-03-28-10-15-00).md`.
  / \(conflict \d{4}-\d\d-\d\d[-\d]{0,12}\)/i,
];

/** `name` is the base name of a file or folder. */
export function isConflictCopy(name: string): boolean {
  return CONFLICT_COPIES.some((shape) => shape.test(name));
}

/**
 * Programs that keep folders in step write a second file where two machines changed the same one. Such a copy is
 * somebody's edit: it is reported, never read as a member or a task file, and never removed.
 */

const SHAPES: readonly RegExp[] = [
  // Dropbox: `tasks (Ann's conflicted copy 2026-03-28).md`; ownCloud, Nextcloud: `tasks (conflicted copy 2026-03-28 101500).md`.
  / \((?:[^()]{1,100} )?conflicted copy\b/i,
  // Dropbox, where names differ only in case or encoding: `tasks (Case Conflict).md`, `tasks (Unicode Encoding Conflict 1).md`.
  / \((?:Case|Unicode Encoding|Selective Sync|Whitespace) Conflict(?: \d+)?\)/i,
  // Older ownCloud: `tasks_conflict-20260328-101500.md`.
  /_conflict-\d{8}-\d{6}/,
  // Syncthing: `tasks.sync-conflict-20260328-101500-ABCDEFG.md`.
  /\.sync-conflict-\d{8}-\d{6}(?:-[A-Z0-9]{7})?/,
  // Obsidian Sync: `tasks (Conflicted copy Laptop 202603281015).md` has the first shape; older: `tasks (conflict 2026-03-28-10-15-00).md`.
  / \(conflict \d{4}-\d\d-\d\d[-\d]{0,12}\)/i,
];

/** Of the name of a file or folder, without the folders above it. */
export function isConflictCopy(name: string): boolean {
  return SHAPES.some((shape) => shape.test(name));
}

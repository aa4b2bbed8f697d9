/** What housekeeping has done, in one line. */
import { count } from "../../model/count.ts";
import type { Housekept } from "./housekeeping.ts";

export function formatHousekeeping(done: Housekept): string {
  const { removed, trimmed, committed, uncommitted, isPostponed, failed } = done;
  if (isPostponed) return `Nothing was pruned: ${uncommitted ?? "git refused"}.`;
  const failures = failed.map(({ file, message }) => ` ${file} was left: ${message}.`).join("");
  if (removed.length + trimmed.length === 0) return `There was nothing to prune.${failures}`;
  const what = [
    ...(removed.length === 0 ? [] : [`${count(removed.length, "old task")} removed`]),
    ...(trimmed.length === 0 ? [] : [`${count(trimmed.length, "session log")} trimmed`]),
  ].join(", ");
  const kept =
    committed === undefined
      ? uncommitted === undefined
        ? ""
        : ` (not committed: ${uncommitted})`
      : ` (commit ${committed.slice(0, 8)})`;
  return `${what}${kept}.${failures}`;
}

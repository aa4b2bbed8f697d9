/** Which snapshot `undo` puts back: the newest one, or where the last thing done was an undo, one further back. */
import { CortexError } from "../model/errors.ts";
import { hashOf, readState } from "./file-state.ts";
import { Journal } from "./journal.ts";
import { type Snapshot, Snapshots } from "./snapshots.ts";

/** `text` is what the file says now. Throws `state_conflict` where there is none. */
export function chooseSnapshot(
  root: string,
  path: string,
  text: string | undefined,
): Snapshot & { readonly text: string } {
  const last = new Journal(root, path).last();
  const undone =
    last !== undefined && text !== undefined && last.hash === hashOf(text) ? last.undone : undefined;
  const candidates = new Snapshots(root, path)
    .list()
    .filter(({ name }) => undone === undefined || name < undone)
    .toReversed();
  for (const snapshot of candidates) {
    const state = readState(snapshot.file, path);
    if (state !== undefined && state.text !== text) return { ...snapshot, text: state.text };
  }
  throw nothingToUndo(path);
}

export function nothingToUndo(path = "the team directory"): CortexError {
  return new CortexError("state_conflict", `There is nothing to undo in ${path}`, {
    hint: "What Cortex writes can be undone for 7 days; what others wrote is in the history of git, if there is one.",
  });
}

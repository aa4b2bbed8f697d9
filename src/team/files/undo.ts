/** Which snapshot `undo` puts back: the newest one, or where the last thing done was an undo, one further back. */
import { CortexError } from "../../model/errors.ts";
import { hashOf, readState } from "./file-state.ts";
import { Journal } from "./journal.ts";
import { type Snapshot, Snapshots } from "./snapshots.ts";

export interface Chosen extends Snapshot {
  readonly text: string;
}

/** `text` is what the file says now. Undefined: there is none. */
export function chooseSnapshot(root: string, path: string, text: string | undefined): Chosen | undefined {
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
  return undefined;
}

export function nothingToUndo(path = "the team directory"): CortexError {
  return new CortexError("state_conflict", `There is nothing to undo in ${path}`, {
    hint: "What Cortex writes can be undone for 7 days; what others wrote is in the history of git, if there is one.",
  });
}

/** Edits of any file of a team, whatever its format. */
import type { FileEdit } from "./edit.ts";
import { applyNoteEdit, isNoteEditDone } from "./edit-note.ts";
import { applyTaskEdit, isTaskEditDone, settleTaskEdit, taskEditsDoneIn } from "./edit-tasks.ts";

/** The text with the edit applied; unchanged if it already is. Throws what `applyTaskEdit` and `applyNoteEdit` throw. */
export function applyEdit(text: string, { file, edit }: FileEdit): string {
  return file === "tasks" ? applyTaskEdit(text, edit) : applyNoteEdit(text, edit);
}

export function isEditDone(text: string, { file, edit }: FileEdit): boolean {
  return file === "tasks" ? isTaskEditDone(text, edit) : isNoteEditDone(text, edit);
}

/** `isEditDone` for many edits of one file. */
export function editsDoneIn(text: string): (edit: FileEdit) => boolean {
  let isTaskDone: ReturnType<typeof taskEditsDoneIn> | undefined;
  return ({ file, edit }) =>
    file === "tasks" ? (isTaskDone ??= taskEditsDoneIn(text))(edit) : isNoteEditDone(text, edit);
}

/**
 * Completes an edit with what depends on the current file. Call it once, before the edit is first applied and recorded, so
 * that applying it again never adds or removes a second task.
 */
export function settleEdit(text: string, change: FileEdit): FileEdit {
  return change.file === "tasks" ? { file: "tasks", edit: settleTaskEdit(text, change.edit) } : change;
}

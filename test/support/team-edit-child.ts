/** Edits a file of a team, in a process of its own: `node team-edit-child.ts <root> <path> <edit as JSON>`. */
import type { FileEdit } from "../../src/team/markdown/edit.ts";
import { TeamFolder } from "../../src/team/files/team-folder.ts";
import { CortexError } from "../../src/model/errors.ts";

const [root, path, edit] = process.argv.slice(2) as [string, string, string];
try {
  const { changed } = await new TeamFolder({ root, clock: Date.now }).edit(
    path,
    JSON.parse(edit) as FileEdit,
  );
  console.log(JSON.stringify({ changed }));
} catch (error) {
  if (!(error instanceof CortexError)) throw error;
  console.log(JSON.stringify({ code: error.code, message: error.message, transient: error.transient }));
}

/** Edits a file of a team on a small disk until it is full, and again when there is room: nothing may be lost. */
import { deepStrictEqual, ok, strictEqual } from "node:assert";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { CortexError } from "../../src/model/errors.ts";
import { isEditDone } from "../../src/team/markdown/apply-edit.ts";
import type { FileEdit } from "../../src/team/markdown/edit.ts";
import { TeamFolder } from "../../src/team/files/team-folder.ts";

const root = process.argv[2]!;
const path = "agents/dev/tasks.md";
const team = new TeamFolder({ root, clock: Date.now });
mkdirSync(join(root, "agents/dev"), { recursive: true });
writeFileSync(join(root, path), "");
writeFileSync(join(root, "ballast"), Buffer.alloc(64 * 1024));

const done: FileEdit[] = [];
let failure: unknown;
for (let count = 0; count < 1_000 && failure === undefined; count++) {
  const edit: FileEdit = {
    file: "tasks",
    edit: { kind: "add", title: `Task ${count}`, body: "x".repeat(3_000) },
  };
  try {
    done.push((await team.editFrom(path, () => edit)).edit!);
  } catch (error) {
    failure = error;
  }
}
ok(failure instanceof CortexError, String(failure));
strictEqual(failure.code, "team_unwritable");
strictEqual(failure.transient, true);
check();
console.log(`full after ${done.length} edits: ${failure.message}`);

rmSync(join(root, "ballast"));
const { edit } = await team.editFrom(path, () => ({ file: "tasks", edit: { kind: "add", title: "Late" } }));
done.push(edit!);
check();
console.log("after room was made: ok");

function check(): void {
  const text = readFileSync(join(root, path), "utf8");
  deepStrictEqual(
    done.filter((one) => !isEditDone(text, one)),
    [],
  );
  deepStrictEqual(readdirSync(join(root, "agents/dev")), ["tasks.md"]);
}

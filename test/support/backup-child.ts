/** Makes or restores a backup. */
import { backUp } from "../../src/keep/backup.ts";
import { restoreHome } from "../../src/keep/restore.ts";

const [verb, home, file] = process.argv.slice(2) as [string, string, string];
const onStep = (): void => {};
if (verb === "backup") backUp({ home, file, withKeys: false, nowMs: 0, onStep });
else restoreHome({ home, file, onStep });

/** The examples of docs/channel-plugins.md, and their checks in a process of its own, as their authors run them. */
import { spawn } from "node:child_process";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
export const EXAMPLES = join(ROOT, "docs/examples");

/** What their entries have as `use`. */
export const BOARDS = {
  module: join(EXAMPLES, "channel-board"),
  program: {
    command: ["node", "main.js"],
    env: ["BOARD_TOKEN"],
    folder: join(EXAMPLES, "channel-board-lines"),
  },
};

export async function conformBoard(
  use: unknown,
  which?: "all",
): Promise<readonly { readonly name: string; readonly problem: string | null }[]> {
  const script = fileURLToPath(new URL("conform-plugin.ts", import.meta.url));
  const args = [script, "board", JSON.stringify(use), ...(which === undefined ? [] : [which])];
  const child = spawn(process.execPath, args, { cwd: ROOT, stdio: ["ignore", "pipe", "inherit"] });
  const lines = (await text(child.stdout)).trim().split("\n");
  return lines.map((line) => JSON.parse(line) as { name: string; problem: string | null });
}

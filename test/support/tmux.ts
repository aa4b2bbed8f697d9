/** A real terminal, of which one can ask what stands in it: a pane of tmux, with a server of its own. */
import { execFileSync, spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect } from "vitest";

import { BIN, environmentOf } from "./cli.ts";

export interface Pane extends Disposable {
  type(text: string): void;
  /** Keys by their names: `Enter`, `Up`, `C-c`. */
  press(...keys: string[]): void;
  paste(text: string): void;
  resize(columns: number, rows: number): void;
  /** The rows that are visible and those that have scrolled away, without the empty ones at the end. */
  rows(): string[];
  cursorColumn(): number;
  /** Waits until these stand in it one below the other, as whole rows. */
  shows(...rows: string[]): Promise<void>;
  /** Waits until the program in it has ended. */
  ended(): Promise<void>;
}

/** Starts `cortex` in a pane. Undefined where there is no tmux. */
export function openPane(
  home: string,
  { columns, rows }: { readonly columns: number; readonly rows: number },
  ...args: string[]
): Pane | undefined {
  if (spawnSync("tmux", ["-V"]).status !== 0) return undefined;
  const env = { ...environmentOf(home), LC_ALL: "C.UTF-8" };
  const server = ["-S", join(home, "tmux"), "-f", "/dev/null", "-u"];
  const tmux = (...command: string[]): string =>
    execFileSync("tmux", [...server, ...command], {
      env,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
  const size = ["-x", String(columns), "-y", String(rows)];
  tmux("new-session", "-d", ...size, process.execPath, BIN, ...args);
  const read = (): string[] => tmux("capture-pane", "-p", "-S", "-").trimEnd().split("\n");
  return {
    type: (text) => void tmux("send-keys", "-l", text),
    press: (...keys) => void tmux("send-keys", ...keys),
    paste(text) {
      tmux("set-buffer", text);
      tmux("paste-buffer", "-p");
    },
    resize: (columns, rows) => void tmux("resize-window", "-x", String(columns), "-y", String(rows)),
    rows: read,
    cursorColumn: () => Number(tmux("display-message", "-p", "#{cursor_x}")),
    async shows(...rows) {
      const wanted = rows.join("\n");
      await expect.poll(() => `\n${read().join("\n")}\n`).toContain(`\n${wanted}\n`);
    },
    async ended() {
      await expect.poll(() => spawnSync("tmux", [...server, "has-session"], { env }).status).toBe(1);
    },
    [Symbol.dispose]: () => void spawnSync("tmux", [...server, "kill-server"], { env }),
  };
}

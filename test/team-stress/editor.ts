/**
 * An editor that knows of no lock: reads the file that was changed last, takes its time, and writes it back with a line
 * more at its beginning; in place, emptying it first, or as a new file with its name. Prints each line once it is
 * written, until it is told to stop. `node editor.ts <root> <seed>`
 */
import { readdirSync, readFileSync, renameSync, statSync } from "node:fs";
import { open, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

import { randomFrom } from "./random.ts";

const [root, seed] = process.argv.slice(2) as [string, string];
const random = randomFrom(Number(seed));
const PAUSE_MS = 80;
const THINKING_MS = 20;

const stop = new AbortController();
process.once("SIGTERM", () => stop.abort());

for (let count = 0; !stop.signal.aborted; count++) {
  await pause(random() * PAUSE_MS);
  const path = newest();
  const text = read(path);
  if (text === undefined) continue; // it is being replaced: any program has to expect that of a shared folder
  await pause(random() * THINKING_MS);
  const line = `Foreign line ${seed}-${count}.`;
  await (count % 2 === 0 ? writeInPlace : replace)(path, `${line}\n${text}`);
  process.stdout.write(`${JSON.stringify({ line })}\n`);
}

function newest(): string {
  const paths = readdirSync(join(root, "agents")).map((name) => join(root, "agents", name, "tasks.md"));
  const changedMs = (path: string) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return paths.toSorted((a, b) => changedMs(b) - changedMs(a))[0]!;
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

async function writeInPlace(path: string, text: string): Promise<void> {
  await using handle = await open(path, "w");
  const middle = Math.floor(text.length / 2);
  await handle.write(text.slice(0, middle));
  await handle.write(text.slice(middle));
}

async function replace(path: string, text: string): Promise<void> {
  const draft = `${path}~`;
  await writeFile(draft, text);
  renameSync(draft, path);
}

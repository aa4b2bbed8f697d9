/**
 * An editor that knows of no lock: reads the file that was changed last, takes its time, and writes it back with a line
 * more at its beginning; in place, emptying it first, or as a new file with its name. Prints each line once it is
 * written, and how long it had the file, until it is told to stop. `node editor.ts <root> <seed>`
 */
import {
  closeSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

import { randomFrom } from "./random.ts";

const [root, seed] = process.argv.slice(2) as [string, string];
const random = randomFrom(Number(seed));
const PAUSE_MS = 80;
const THINKING_MS = 20;
/** How long a file is empty, and then half of it, while it is written in place. */
const WRITING_MS = 1;

const stop = new AbortController();
process.once("SIGTERM", () => stop.abort());

for (let count = 0; !stop.signal.aborted; count++) {
  await pause(random() * PAUSE_MS);
  const path = newest();
  const readMs = performance.now();
  const text = read(path);
  if (text === undefined) continue; // it is being replaced: any program has to expect that of a shared folder
  await pause(random() * THINKING_MS);
  const line = `Foreign line ${seed}-${count}.`;
  const beginsMs = performance.now();
  (count % 2 === 0 ? writeInPlace : replace)(path, `${line}\n${text}`);
  const endsMs = performance.now();
  const times = { thinkingMs: beginsMs - readMs, writingMs: endsMs - beginsMs };
  process.stdout.write(`${JSON.stringify({ line, ...times })}\n`);
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

function writeInPlace(path: string, text: string): void {
  const file = openSync(path, "w");
  const middle = Math.floor(text.length / 2);
  for (const part of [text.slice(0, middle), text.slice(middle)]) {
    spin(); // a timer would give the processor away, and a busy machine give it back much later
    writeSync(file, part);
  }
  closeSync(file);
}

function spin(): void {
  const untilMs = performance.now() + WRITING_MS;
  while (performance.now() < untilMs);
}

function replace(path: string, text: string): void {
  const draft = `${path}~`;
  writeFileSync(draft, text);
  renameSync(draft, path);
}

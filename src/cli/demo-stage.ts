/**
 * The output of the demo. Every command it shows is run in this process by the command line's own code, so users can type
 * what they read. The data that a command prints is available to the demo too.
 */
import { clearLine, cursorTo } from "node:readline";

import { asCalled } from "./as-called.ts";
import { wholeText } from "./chat-view.ts";
import { executeCommandLine } from "./command-line.ts";
import type { Command, Invocation } from "../feature/command.ts";
import type { Printer } from "../terminal/print.ts";
import { type Format, paintRow } from "../terminal/spans.ts";
import { addPiece, EMPTY_TRANSCRIPT, type Piece, type Transcript } from "../terminal/transcript.ts";

interface StageOptions {
  readonly home: string;
  /** What the user types for `cortex`. */
  readonly program: string;
  readonly environment: Invocation["environment"];
  readonly commands: readonly Command[];
  readonly style: Printer["style"];
  /** Whether to print only the summary of each step. */
  readonly isSilent: boolean;
  /** Silences the output. */
  readonly signal: AbortSignal;
}

const DEFAULT_COLUMNS = 100;
const MAX_COLUMNS = 110;

export class DemoStage {
  readonly #options: StageOptions;
  readonly #columns = Math.min(process.stdout.columns || DEFAULT_COLUMNS, MAX_COLUMNS) - 1;
  #transcript: Transcript = EMPTY_TRANSCRIPT;
  #shown: string[] = [];

  constructor(options: StageOptions) {
    this.#options = options;
  }

  /** Prints lines of any length. */
  say(text: string, format?: Format): void {
    const lines = text.split("\n").map((line) => ({ spans: [{ text: line, format }] }));
    this.add({ kind: "lines", lines });
  }

  /** Shows a shell command, as if typed. */
  shell(line: string): void {
    const { style } = this.#options;
    this.#write(`\n${style(["bold", "cyan"], "$")} ${style("bold", this.#show(line))}`);
  }

  /** Suggests a command for more detail. */
  suggest(about: string, line: string): void {
    this.#write(`\n${this.#options.style("dim", `${about}:`)} ${this.#show(line)}`);
  }

  /** Shows and runs a `cortex` command with its output, and returns its data. */
  async cortex<Data>(...words: string[]): Promise<Data> {
    this.shell(typed(words));
    return this.#run<Data>(words, true);
  }

  /** Shows and runs a `cortex` command without its output. */
  async only(...words: string[]): Promise<void> {
    this.shell(typed(words));
    await this.#run(words, false);
  }

  /** Runs a `cortex` command unseen, and returns its data. */
  async look<Data>(...words: string[]): Promise<Data> {
    return this.#run<Data>(words, false);
  }

  /** Prints pieces of a chat. */
  add(...pieces: readonly Piece[]): void {
    for (const piece of pieces) {
      const { transcript, rows } = addPiece(this.#transcript, piece, this.#columns);
      this.#transcript = transcript;
      for (const row of rows) this.#write(paintRow(row, this.#options.style));
    }
  }

  /** Prints a text in a frame. */
  file(text: string, name: string): void {
    this.#write("");
    this.add(...wholeText(`\`\`\`${name}\n${text.trimEnd()}\n\`\`\``));
  }

  /** Returns the commands shown since the last call. */
  takeCommands(): string[] {
    const taken = this.#shown;
    this.#shown = [];
    return taken;
  }

  #write(text: string): void {
    const { isSilent, signal } = this.#options;
    if (!isSilent && !signal.aborted) process.stdout.write(`${text}\n`);
  }

  #show(line: string): string {
    const asTyped = line.replace(/^cortex(?= )/, this.#options.program);
    this.#shown.push(asTyped);
    return asTyped;
  }

  async #run<Data>(words: readonly string[], isSeen: boolean): Promise<Data> {
    const { home, program, environment, commands, style, isSilent } = this.#options;
    let data: unknown;
    const print: Printer = {
      json: isSilent || !isSeen,
      style,
      data: (value, forPeople) => {
        data = value;
        const text = isSilent || !isSeen ? "" : forPeople().trimEnd();
        if (text !== "") this.#write(text);
      },
      advice: (text) => asCalled(text, program),
      note: (sentence) => (isSeen ? this.#write(style("dim", sentence)) : undefined),
    };
    const code = await executeCommandLine(commands, {
      argv: [...words, "--home", home],
      environment,
      print,
    });
    if (code !== 0) throw new Error(`${typed(words)} ended with ${code}`);
    return data as Data;
  }
}

/** A `cortex` command as typed in a shell. */
export function typed(words: readonly string[]): string {
  return ["cortex", ...words.map(quoted)].join(" ");
}

function quoted(word: string): string {
  if (/^[\w@%+=:,./-]+$/.test(word)) return word;
  return /["$`\\!]/.test(word) ? `'${word.replaceAll("'", `'\\''`)}'` : `"${word}"`;
}

/** Time to read. Enter continues at once. */
export async function pause(ms: number, style: Printer["style"]): Promise<void> {
  const { stdin, stdout } = process;
  const over = Promise.withResolvers<void>();
  const go = (): void => over.resolve();
  const timer = setTimeout(go, ms);
  stdout.write(style("dim", "… press Enter to continue"));
  stdin.once("data", go).resume();
  await over.promise;
  clearTimeout(timer);
  stdin.off("data", go).pause();
  cursorTo(stdout, 0);
  clearLine(stdout, 0);
}

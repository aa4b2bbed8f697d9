/**
 * How a demo speaks. Commands that it shows are the commands that it runs, in this process, as the command line would:
 * what somebody reads is what they can type. What they print is data for the demo too.
 */
import { clearLine, cursorTo } from "node:readline";

import { asCalled } from "./as-called.ts";
import { wholeText } from "./chat-view.ts";
import { executeCommandLine } from "./command-line.ts";
import type { Command, Invocation } from "../feature/command.ts";
import type { Printer } from "../terminal/print.ts";
import { type Format, paintRow } from "../terminal/spans.ts";
import { addPiece, EMPTY_TRANSCRIPT, type Piece, type Transcript } from "../terminal/transcript.ts";

export interface DemoStage {
  /** What happens, in lines of any length. */
  say(text: string, format?: Format): void;
  /** Something that is done as if it were typed. */
  shell(line: string): void;
  /** Something to type for whoever wants to know more. */
  suggest(about: string, line: string): void;
  /** Shows a command of `cortex`, runs it on the home of the demo, and gives back its data. */
  cortex<Data>(...words: string[]): Promise<Data>;
  /** The same, without what it prints. */
  only(...words: string[]): Promise<void>;
  /** Runs one that is not worth showing. */
  look<Data>(...words: string[]): Promise<Data>;
  /** What a chat shows. */
  add(...pieces: readonly Piece[]): void;
  /** A text as it is, in a frame. */
  file(text: string, name: string): void;
  /** The commands that were shown since this was asked last. */
  takeCommands(): string[];
}

interface StageOptions {
  readonly home: string;
  /** What somebody types for `cortex`. */
  readonly program: string;
  readonly environment: Invocation["environment"];
  readonly commands: readonly Command[];
  readonly style: Printer["style"];
  /** Whether only what is done is said, and not how. */
  readonly isSilent: boolean;
  /** Nothing is said from then on. */
  readonly signal: AbortSignal;
}

const DEFAULT_COLUMNS = 100;
const MAX_COLUMNS = 110;

export function openStage(options: StageOptions): DemoStage {
  const { home, program, environment, commands, style, isSilent, signal } = options;
  const columns = Math.min(process.stdout.columns || DEFAULT_COLUMNS, MAX_COLUMNS) - 1;
  let transcript: Transcript = EMPTY_TRANSCRIPT;
  let shown: string[] = [];

  const write = (text: string): void => {
    if (!isSilent && !signal.aborted) process.stdout.write(`${text}\n`);
  };
  const show = (line: string): string => {
    const asTyped = line.replace(/^cortex(?= )/, program);
    shown.push(asTyped);
    return asTyped;
  };
  const shell = (line: string): void =>
    write(`\n${style(["bold", "cyan"], "$")} ${style("bold", show(line))}`);
  const add = (...pieces: readonly Piece[]): void => {
    for (const piece of pieces) {
      const added = addPiece(transcript, piece, columns);
      transcript = added.transcript;
      for (const row of added.rows) write(paintRow(row, style));
    }
  };

  async function run<Data>(words: readonly string[], isSeen: boolean): Promise<Data> {
    let data: unknown;
    const print: Printer = {
      json: isSilent || !isSeen,
      style,
      data(value, forPeople) {
        data = value;
        const said = isSilent || !isSeen ? "" : forPeople().trimEnd();
        if (said !== "") write(said);
      },
      advice: (text) => asCalled(text, program),
      note: (sentence) => (isSeen ? write(style("dim", sentence)) : undefined),
    };
    const code = await executeCommandLine(commands, { argv: [...words, "--home", home], environment, print });
    if (code !== 0) throw new Error(`${typed(words)} ended with ${code}`);
    return data as Data;
  }

  return {
    say: (text, format) =>
      add({ kind: "lines", lines: text.split("\n").map((line) => ({ spans: [{ text: line, format }] })) }),
    shell,
    suggest: (about, line) => write(`\n${style("dim", `${about}:`)} ${show(line)}`),
    async cortex<Data>(...words: string[]) {
      shell(typed(words));
      return run<Data>(words, true);
    },
    async only(...words) {
      shell(typed(words));
      await run(words, false);
    },
    look: async <Data>(...words: string[]) => run<Data>(words, false),
    add,
    file(text, name) {
      write("");
      add(...wholeText(`\`\`\`${name}\n${text.trimEnd()}\n\`\`\``));
    },
    takeCommands() {
      const taken = shown;
      shown = [];
      return taken;
    },
  };
}

/** As a shell takes it. */
export function typed(words: readonly string[]): string {
  return ["cortex", ...words.map(quoted)].join(" ");
}

function quoted(word: string): string {
  if (/^[\w@%+=:,./-]+$/.test(word)) return word;
  return /["$`\\!]/.test(word) ? `'${word.replaceAll("'", `'\\''`)}'` : `"${word}"`;
}

/** Time to read. Enter goes on at once. */
export async function pause(ms: number, style: Printer["style"]): Promise<void> {
  const { stdin, stdout } = process;
  const over = Promise.withResolvers<void>();
  const go = (): void => over.resolve();
  const timer = setTimeout(go, ms);
  stdout.write(style("dim", "… Enter goes on"));
  stdin.once("data", go).resume();
  await over.promise;
  clearTimeout(timer);
  stdin.off("data", go).pause();
  cursorTo(stdout, 0);
  clearLine(stdout, 0);
}

import { styleText } from "node:util";

import { harmless, harmlessWithColors } from "./text.ts";

/** Styles text, if the output is a terminal and colors are enabled. */
export type Style = (format: Parameters<typeof styleText>[0], words: string) => string;

/** The output of a command: data on standard output, everything else on standard error. */
export interface Printer {
  /** Whether data is printed as JSON, and nothing else on standard output. */
  readonly json: boolean;
  /** Prints the requested data: one JSON value, or text for people. */
  data(value: unknown, forPeople: () => string): void;
  /** Prints additional information; silent with `--quiet`. */
  note(sentence: string): void;
  /** Rewrites commands in advice to work as typed; for advice within data. */
  readonly advice: (text: string) => string;
  readonly style: Style;
}

interface PrinterOptions {
  readonly json: boolean;
  readonly quiet: boolean;
  readonly color: boolean;
  /** Rewrites commands in advice to work as typed. */
  readonly inWords: (advice: string) => string;
}

export function createPrinter({ json, quiet, color, inWords }: PrinterOptions): Printer {
  return {
    json,
    data(value, forPeople) {
      const said = json ? JSON.stringify(value) : harmlessWithColors(forPeople());
      if (said !== "") process.stdout.write(`${said}\n`);
    },
    note(sentence) {
      if (!quiet) process.stderr.write(`${harmlessWithColors(inWords(sentence))}\n`);
    },
    advice: inWords,
    style: (format, words) => (color ? styleText(format, words, { stream: process.stdout }) : words),
  };
}

/** Additions in green, deletions in red. */
export function coloredDiff(diff: string, { style }: Pick<Printer, "style">): string {
  return harmless(diff)
    .split("\n")
    .map((line) =>
      line.startsWith("+") ? style("green", line) : line.startsWith("-") ? style("red", line) : line,
    )
    .join("\n");
}

import { styleText } from "node:util";

import { harmless, harmlessInColour } from "./text.ts";

/** In colour, where the output is a terminal and nobody objects. */
export type Style = (format: Parameters<typeof styleText>[0], words: string) => string;

/** How a command speaks: data on standard output, everything else on standard error. */
export interface Printer {
  /** Whether programs read along: data is JSON, and nothing else is said. */
  readonly json: boolean;
  /** The data that was asked for: one JSON value, or what a person reads. */
  data(value: unknown, forPeople: () => string): void;
  /** What somebody may want to know beside the data. */
  note(sentence: string): void;
  /** Advice, in words that work where it is read: for what is said among the data. */
  readonly advice: (text: string) => string;
  readonly style: Style;
}

interface PrinterOptions {
  readonly json: boolean;
  readonly quiet: boolean;
  readonly color: boolean;
  /** Puts what is advised into the words that work here. */
  readonly inWords: (advice: string) => string;
}

export function createPrinter({ json, quiet, color, inWords }: PrinterOptions): Printer {
  return {
    json,
    data(value, forPeople) {
      const said = json ? JSON.stringify(value) : harmlessInColour(forPeople());
      if (said !== "") process.stdout.write(`${said}\n`);
    },
    note(sentence) {
      if (!quiet) process.stderr.write(`${harmlessInColour(inWords(sentence))}\n`);
    },
    advice: inWords,
    style: (format, words) => (color ? styleText(format, words, { stream: process.stdout }) : words),
  };
}

/** What came in green, what went in red. */
export function colouredDiff(diff: string, { style }: Pick<Printer, "style">): string {
  return harmless(diff)
    .split("\n")
    .map((line) =>
      line.startsWith("+") ? style("green", line) : line.startsWith("-") ? style("red", line) : line,
    )
    .join("\n");
}

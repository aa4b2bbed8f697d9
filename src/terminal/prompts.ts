/** Questions to a person in a terminal, some with hidden answers. */
import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";

import { readAnswer } from "./read-input.ts";
import { harmless } from "./text.ts";

export interface Prompts extends Disposable {
  /** Aborts when the person presses Ctrl-C, also between questions. */
  readonly closed: AbortSignal;
  /** Undefined: Ctrl-C or Ctrl-D. */
  ask(question: string): Promise<string | undefined>;
  /** What is typed or pasted is not shown. */
  askHidden(question: string): Promise<string | undefined>;
  say(text: string): void;
}

export function openPrompts(): Prompts {
  let isHidden = false;
  const output = new Writable({
    write(chunk: Buffer, _, done) {
      if (!isHidden) process.stdout.write(chunk);
      done();
    },
  });
  // Without a history: the up key would show a hidden answer.
  const lines = createInterface({ input: process.stdin, output, terminal: true, historySize: 0 });
  const closed = new AbortController();
  lines.once("close", () => closed.abort()).on("SIGINT", () => lines.close());
  const ask = async (question: string): Promise<string | undefined> => {
    if (closed.signal.aborted) return undefined;
    return readAnswer(lines, harmless(question));
  };
  return {
    closed: closed.signal,
    ask,
    async askHidden(question) {
      process.stdout.write(harmless(question));
      isHidden = true;
      try {
        return await ask("");
      } finally {
        isHidden = false;
        process.stdout.write("\n");
      }
    },
    say: (text) => void process.stdout.write(`${harmless(text)}\n`),
    [Symbol.dispose]: () => lines.close(),
  };
}

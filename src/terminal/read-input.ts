import type { Interface } from "node:readline/promises";

import { CortexError } from "../model/errors.ts";

/** Prompts for a line. Undefined: Ctrl-C or Ctrl-D. */
export async function readAnswer(lines: Interface, question: string): Promise<string | undefined> {
  const closed = new AbortController();
  const close = (): void => closed.abort();
  lines.once("close", close).once("SIGINT", close);
  try {
    return (await lines.question(question, { signal: closed.signal })).trim();
  } catch (error) {
    if (closed.signal.aborted) return undefined;
    throw error;
  } finally {
    lines.off("close", close).off("SIGINT", close);
  }
}

/** A message argument: the text, or `-` for standard input. Throws `usage` if it is empty. */
export async function readMessage(given: string, command: string): Promise<string> {
  const message = given === "-" ? await readInput() : given;
  if (message.trim() !== "") return message;
  throw new CortexError("usage", "The message is empty", {
    hint: `For example: \`${command} hello\`, or \`${command} - < file\`.`,
  });
}

async function readInput(): Promise<string> {
  let input = "";
  for await (const chunk of process.stdin.setEncoding("utf8")) input += String(chunk);
  return input;
}

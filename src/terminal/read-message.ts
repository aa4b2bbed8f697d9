import { CortexError } from "../model/errors.ts";

/** What is said on the command line: the text itself, or `-` for standard input. An empty message is `usage`. */
export async function readMessage(given: string, command: string): Promise<string> {
  const message = given === "-" ? await readInput() : given;
  if (message.trim() !== "") return message;
  throw new CortexError("usage", "The message is empty", {
    hint: `Say something: \`${command} hello\`, or \`${command} - < file\`.`,
  });
}

async function readInput(): Promise<string> {
  let input = "";
  for await (const chunk of process.stdin.setEncoding("utf8")) input += chunk as string;
  return input;
}

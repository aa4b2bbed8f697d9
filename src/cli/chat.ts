import { createInterface } from "node:readline";

import { CortexError } from "../model/errors.ts";
import { MAIN_SESSION, normalizeSessionKey } from "../model/session-key.ts";
import { type Invocation, text } from "./command.ts";
import { messageOf, type Talk } from "./message.ts";
import { report } from "./report.ts";
import { described, sendAndWait } from "./send.ts";
import type { Server } from "./server.ts";
import { needOrStartServer } from "./start-server.ts";

/** In a terminal, a conversation; in a pipe, or where no cursor can be moved, an answer for each line. */
export async function chat(given: Invocation): Promise<void | false> {
  const server = await needOrStartServer(given);
  const talk = {
    session: normalizeSessionKey(text(given, "session") ?? MAIN_SESSION),
    profile: text(given, "profile"),
  };
  const isTerminal = process.stdin.isTTY && process.stdout.isTTY && given.environment["TERM"] !== "dumb";
  if (!isTerminal || given.print.json) return answerLines(server, talk, given);
  const { converse } = await import("./converse.ts");
  return converse(talk, given);
}

/** Every line is a message of its own and is answered before the next is sent. */
async function answerLines(
  server: Server,
  talk: Talk,
  { print, options, environment }: Invocation,
): Promise<void | false> {
  let failed = false;
  for await (const line of createInterface({ input: process.stdin })) {
    if (line.trim() === "") continue;
    try {
      const sent = await sendAndWait(server, messageOf(line, talk, "followup"), print);
      print.data(sent, () => described(sent));
    } catch (error) {
      if (!(error instanceof CortexError) || error.code === "server_missing") throw error;
      report(error, { verbose: options["verbose"] === true, environment }); // the lines after it may fare better
      failed = true;
    }
  }
  return failed ? false : undefined;
}

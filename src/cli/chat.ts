import { MAIN_SESSION, normalizeSessionKey } from "../model/session-key.ts";
import { type Invocation, text } from "../feature/command.ts";
import { needOrStartServer } from "../client/start-server.ts";

/** In a terminal, a conversation; in a pipe, or where no cursor can be moved, an answer for each line. */
export async function chat(given: Invocation): Promise<void | false> {
  const server = await needOrStartServer(given);
  const talk = {
    session: normalizeSessionKey(text(given, "session") ?? MAIN_SESSION),
    profile: text(given, "profile"),
  };
  const isTerminal = process.stdin.isTTY && process.stdout.isTTY && given.environment["TERM"] !== "dumb";
  if (!isTerminal || given.print.json) {
    const { answerLines } = await import("./answer-lines.ts");
    return answerLines(server, talk, given);
  }
  const { converse } = await import("./converse.ts");
  return converse(talk, given);
}

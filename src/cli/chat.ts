import { readRedact } from "../runtime/secrets.ts";
import { MAIN_SESSION, normalizeSessionKey } from "../model/session-key.ts";
import { type Invocation, text } from "../feature/command.ts";
import { needOrStartServer } from "../client/start-server.ts";
import { Terminal } from "../terminal/terminal.ts";
import { answerLines } from "./answer-lines.ts";
import { keepEntry, readHistory } from "./chat-history.ts";
import { converseIn } from "./conversation.ts";
import type { Talk } from "./send.ts";

/** In a terminal, a conversation; in a pipe, or where no cursor can be moved, an answer for each line. */
export async function chat(given: Invocation): Promise<void | false> {
  const server = await needOrStartServer(given);
  const talk = {
    session: normalizeSessionKey(text(given, "session") ?? MAIN_SESSION),
    profile: text(given, "profile"),
  };
  const isTerminal = process.stdin.isTTY && process.stdout.isTTY && given.environment["TERM"] !== "dumb";
  return isTerminal && !given.print.json ? converseInTerminal(talk, given) : answerLines(server, talk, given);
}

/** From one session to the next, until somebody leaves. */
async function converseInTerminal(first: Talk, given: Invocation): Promise<void> {
  const { home, environment, print } = given;
  const history = readHistory(home);
  const redact = readRedact({ home, environment });
  redact.catch(() => {}); // looked at for every line: nothing is kept then
  const keep = (line: string): void => void keepEntry(home, line, redact);
  let leftAtWork = false;
  {
    const { stdin: input, stdout: output } = process;
    using terminal = new Terminal({ input, output, style: print.style, history });
    for (let talk: Talk | undefined = first; talk !== undefined;) {
      const left = await converseIn(talk, { terminal, home, advice: print.advice, keep });
      leftAtWork = left.isAtWork;
      talk = left.next;
    }
  }
  if (leftAtWork) print.note("The agent goes on. `cortex chat` comes back to it.");
}

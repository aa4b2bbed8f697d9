import { readRedact } from "../runtime/secrets.ts";
import { MAIN_SESSION, normalizeSessionKey } from "../model/session-key.ts";
import { type Invocation, text } from "../feature/command.ts";
import { needOrStartServer } from "../client/start-server.ts";
import { Terminal } from "../terminal/terminal.ts";
import { answerLines } from "./answer-lines.ts";
import { keepEntry, readHistory } from "./chat-history.ts";
import { converseIn } from "./conversation.ts";
import type { Talk } from "./send.ts";

/** Interactive in a terminal; in a pipe or a dumb terminal, each input line is answered in turn. */
export async function chat(given: Invocation): Promise<void | false> {
  const server = await needOrStartServer(given);
  const talk = {
    session: normalizeSessionKey(text(given, "session") ?? MAIN_SESSION),
    profile: text(given, "profile"),
  };
  const isTerminal = process.stdin.isTTY && process.stdout.isTTY && given.environment["TERM"] !== "dumb";
  return isTerminal && !given.print.json ? converseInTerminal(talk, given) : answerLines(server, talk, given);
}

/**
 * A message typed while the agent works is sent at once; the prompt shows the queue mode that applies. Ctrl-C aborts the
 * agent; a second one, or one while it is idle, leaves the chat.
 */
async function converseInTerminal(first: Talk, given: Invocation): Promise<void> {
  const { home, environment, print } = given;
  const history = readHistory(home);
  const redact = readRedact({ home, environment });
  redact.catch(() => {}); // awaited for every line; if it fails, no line is kept
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
  if (leftAtWork) print.note("The agent keeps working. Run `cortex chat` to return to it.");
}

/**
 * A conversation in a terminal. What is typed while the agent works is sent at once; what it does then, the
 * prompt says. Ctrl-C ends what the agent does; a second one, or one while it is idle, ends the conversation.
 */
import { readRedact } from "../runtime/secrets.ts";
import { keepEntry, readHistory } from "./chat-history.ts";
import type { Invocation } from "../feature/command.ts";
import { converseIn } from "./conversation.ts";
import type { Talk } from "./send.ts";
import { Terminal } from "../terminal/terminal.ts";

/** From one session to the next, until somebody leaves. */
export async function converse(first: Talk, given: Invocation): Promise<void> {
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

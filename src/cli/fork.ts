import { type Invocation, text } from "../feature/command.ts";
import { CHANNEL } from "./message.ts";
import { type Sent, sendAndWait } from "./send.ts";
import { ask } from "../client/ask.ts";
import { needServer } from "../client/server.ts";
import { harmless } from "../terminal/text.ts";

export async function fork(given: Invocation): Promise<void> {
  const { home, args, options, print } = given;
  const [turn, content] = args;
  const server = await needServer(home);
  const path = `/api/turns/${encodeURIComponent(turn!)}/fork`;
  const waits = options["wait"] === true && content !== undefined;
  const wanted = { session: text(given, "session"), ...(waits ? {} : { content }) };
  const { body } = await ask(server, { method: "POST", path, body: wanted });
  const { session } = body as unknown as Sent;
  if (waits) {
    print.note(`New session: ${session}`);
    const sent = await sendAndWait(server, { content, session, channel: CHANNEL }, print);
    print.data(sent, () => harmless(sent.text ?? ""));
    return;
  }
  print.data(body, () => {
    const sent = content === undefined ? "" : ", and the message is on its way";
    return `The session ${session} begins at ${turn}${sent}.`;
  });
}

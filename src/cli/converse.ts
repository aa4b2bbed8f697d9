/**
 * A conversation in a terminal. What is typed while the agent works is sent at once; unless the session says
 * otherwise (`/queue`), it steers the agent. Ctrl-C ends what the agent does; a second one, or one while it is idle, ends the conversation.
 */
import { CortexError } from "../model/errors.ts";
import type { Json } from "../model/json.ts";
import { type ChatView, IDLE, promptOf, showAnswer, type Shown, showEvent, showNote } from "./chat-view.ts";
import type { Invocation } from "./command.ts";
import { followStream, type StreamEvent } from "./follow-stream.ts";
import { messageOf, type Talk } from "./message.ts";
import type { RelayView } from "../runtime/relay-views.ts";
import type { ApprovalView } from "../runtime/views.ts";
import { ask, type Request } from "./ask.ts";
import { describeRequest } from "./describe-request.ts";
import { readOutput } from "./relay-progress.ts";
import { endLine, isOver } from "./relay-text.ts";
import type { Sent } from "./send.ts";
import { needServer } from "./server.ts";
import { Terminal } from "./terminal.ts";

export async function converse(talk: Talk, { home, print }: Invocation): Promise<void> {
  const left = new AbortController();
  const sessionPath = `/api/sessions/${encodeURIComponent(talk.session)}`;
  let view: ChatView = IDLE;
  let isAborting = false;
  let isLost = false;
  const relaysTold = new Set<string>();

  using terminal = new Terminal(process.stdin, process.stdout, {
    onLine(line) {
      if (line.trim() === "") return;
      const { state } = view;
      show({ view: { ...view, state: "working" }, text: "" });
      request({ method: "POST", path: "/api/messages", body: messageOf(line, talk) }, (body) =>
        told(body as unknown as Sent, state),
      );
    },
    onInterrupt() {
      if (view.state === "idle" || isAborting) return left.abort();
      isAborting = true;
      note("Aborting. Ctrl-C again leaves.");
      request({ method: "POST", path: `${sessionPath}/abort` });
    },
    onEnd: () => left.abort(),
  });

  terminal.prompt(promptOf(view));
  for await (const followed of followStream(home, talk.session, left.signal)) {
    switch (followed.kind) {
      case "open":
        if (isLost) note("Connected again.");
        else void greet();
        isLost = false;
        break;
      case "lost":
        if (!isLost) note("The connection is lost; trying to get it back.");
        isLost = true;
        break;
      case "event":
        follow(followed.event);
        break;
    }
  }
  if (view.state !== "idle") print.note("The agent goes on. `cortex chat` comes back to it.");

  /** Says where we are. The agent may be at work already, for somebody else. */
  async function greet(): Promise<void> {
    note(`This is ${talk.session}. Ctrl-C aborts the agent, Ctrl-D leaves.`);
    try {
      const { state } = (await send({ path: sessionPath })).body as { state: string };
      if (state === "idle") return;
      show({ view: { ...view, state: state === "suspended" ? "waiting" : "working" }, text: "" });
      const open = { path: `/api/approvals?state=open&session=${encodeURIComponent(talk.session)}` };
      const { items } = (await send(open)).body as unknown as { items: readonly ApprovalView[] };
      for (const request of items) note(describeRequest(request));
    } catch {
      // There is no such session yet: it begins with the first message.
    }
  }

  function follow(event: StreamEvent): void {
    const { type, state, itemId } = event;
    if (type === "run.state" && state === "idle") isAborting = false;
    show(showEvent(view, event, print.style));
    if (type === "queue.changed" && state === "dead" && typeof itemId === "string") void explain(itemId);
    const { approvalId } = event;
    const { relayId } = event;
    if (type === "relay.changed" && typeof relayId === "string") {
      if (isOver({ status: state })) void tellRelay(relayId);
      else relaysTold.delete(relayId); // one that goes on after its end ends again
    }
    if (type === "approval.changed" && state === "open" && typeof approvalId === "string")
      void tellRequest(approvalId);
  }

  function show(shown: Shown): void {
    if (left.signal.aborted) return;
    if (promptOf(shown.view) !== promptOf(view)) terminal.prompt(promptOf(shown.view));
    view = shown.view;
    if (shown.text !== "") terminal.write(shown.text);
  }

  function note(text: string): void {
    show(showNote(view, text, print.style));
  }

  async function send(wanted: Request): ReturnType<typeof ask> {
    return ask(await needServer(home), { ...wanted, signal: left.signal });
  }

  /** Says what became of a line. Where it is no message to the agent, the agent is as it was. */
  function told({ dispatchId, text, reply, dropped }: Sent, state: ChatView["state"]): void {
    const isForAgent = dispatchId !== undefined && dropped === undefined;
    if (!isForAgent && view.state === "working") show({ view: { ...view, state }, text: "" });
    if (isForAgent && state !== "idle") note("↳ Sent while the agent works.");
    for (const line of [text, reply]) if (line !== undefined) note(line);
    if (dropped !== undefined) note(`Dropped by the policy "${dropped}": too many messages wait.`);
  }

  /** Asks the server for something, and says so if that does not work. The conversation goes on. */
  function request(wanted: Request, then: (body: Json) => void = () => {}): void {
    void send(wanted)
      .then(({ body }) => then(body))
      .catch((error: unknown) => {
        isAborting = false;
        show({ view: { ...view, state: "idle" }, text: "" });
        note(error instanceof CortexError ? `${error.message}. ${error.hint}` : String(error));
      });
  }

  /** Says what the agent asks, and how to decide it here. */
  async function tellRequest(id: string): Promise<void> {
    try {
      const path = `/api/approvals/${encodeURIComponent(id)}`;
      note(describeRequest((await send({ path })).body as unknown as ApprovalView));
    } catch {
      note(`\`cortex approvals show ${id}\` says what is asked.`); // the server is gone
    }
  }

  /** Says what a relay has come to. The end of one is told of more than once. */
  async function tellRelay(id: string): Promise<void> {
    if (relaysTold.has(id)) return;
    relaysTold.add(id);
    try {
      const server = await needServer(home);
      const { body } = await send({ path: `/api/relays/${encodeURIComponent(id)}` });
      const record = body as unknown as RelayView;
      const output = await readOutput(record, server);
      if (output !== null) show(showAnswer(view, output));
      note(endLine(record, Date.now()));
    } catch {
      note(`\`cortex relay show ${id}\` says what came of it.`); // the server is gone
    }
  }

  /** Says why a message could not be answered. */
  async function explain(item: string): Promise<void> {
    try {
      const { error } = (await send({ path: `/api/dead/${encodeURIComponent(item)}` })).body as {
        error: string;
      };
      note(`${error}. \`cortex dead retry ${item}\` tries it again.`);
    } catch {
      note(`\`cortex dead show ${item}\` says why.`); // the server is gone, or the letter is
    }
  }
}

/** A session, read along and shown as a chat shows it. Unlike a chat, it waits for what happens. */
import { setTimeout as wait } from "node:timers/promises";

import type { SessionKey } from "../model/session-key.ts";
import { type ChatView, IDLE, note, showEvent, typedLines } from "./chat-view.ts";
import { openChatServer } from "./chat-server.ts";
import type { Stage } from "./demo-stage.ts";
import { followStream, type StreamEvent } from "../client/follow-stream.ts";
import { messageOf } from "./message.ts";

interface DemoTalk extends AsyncDisposable {
  /** Says something, as somebody who types it. */
  say(text: string, mode?: string): Promise<void>;
  /** The next event of this type, after the one that was waited for last. */
  until(type: string): Promise<StreamEvent>;
  /** The id of the next turn that is complete. */
  turn(): Promise<string>;
}

/** What takes longer does not happen at all. */
const WAIT_LIMIT_MS = 60_000;

/** Resolves when the stream is open: what is said before would be answered unseen. */
export async function openTalk(
  session: SessionKey,
  { home, stage }: { readonly home: string; readonly stage: Stage },
): Promise<DemoTalk> {
  const left = new AbortController();
  const server = openChatServer(home, left.signal);
  const opened = Promise.withResolvers<void>();
  const events: StreamEvent[] = [];
  let arrived = Promise.withResolvers<void>();
  let view: ChatView = IDLE;
  let isLost = false;

  const following = follow().then(
    () => opened.resolve(),
    (error: unknown) => {
      opened.reject(error);
      arrived.reject(error);
      arrived.promise.catch(() => {}); // nobody may be waiting
    },
  );
  await opened.promise;
  return {
    async say(text, mode) {
      stage.add(typedLines(text));
      await server.say(messageOf(text, { session, profile: undefined }, mode));
      if (mode !== undefined) stage.add(note(`↳ Sent while the agent works (${mode}).`));
    },
    until,
    turn: async () => (await until("turn.committed"))["turnId"] as string,
    async [Symbol.asyncDispose]() {
      left.abort();
      await following;
    },
  };

  async function until(type: string): Promise<StreamEvent> {
    const limit = new AbortController();
    const late = wait(WAIT_LIMIT_MS, undefined, { signal: limit.signal }).then(() => {
      throw new Error(`No ${type} in ${session} within ${WAIT_LIMIT_MS / 1_000} seconds`);
    });
    late.catch(() => {}); // it came in time
    try {
      for (;;) {
        for (let event = events.shift(); event !== undefined; event = events.shift())
          if (event.type === type) return event;
        await Promise.race([arrived.promise, late]);
      }
    } finally {
      limit.abort();
    }
  }

  async function follow(): Promise<void> {
    for await (const followed of followStream(home, session, left.signal)) {
      switch (followed.kind) {
        case "open":
          if (isLost) stage.add(note("Connected again."));
          isLost = false;
          opened.resolve();
          break;
        case "lost":
          if (!isLost) stage.add(note("The connection is lost; trying to get it back."));
          isLost = true;
          break;
        case "event":
          take(followed.event);
          break;
      }
    }
  }

  function take(event: StreamEvent): void {
    const shown = showEvent(view, event);
    view = shown.view;
    stage.add(...shown.pieces);
    events.push(event);
    arrived.resolve();
    arrived = Promise.withResolvers<void>();
  }
}

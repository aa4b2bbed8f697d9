/** A session, read along and shown as a chat shows it. Unlike a chat, it waits for what happens. */
import { setTimeout as wait } from "node:timers/promises";

import type { SessionKey } from "../model/session-key.ts";
import { type ChatView, IDLE, note, showEvent, typedLines } from "./chat-view.ts";
import { openChatServer } from "./chat-server.ts";
import type { DemoStage } from "./demo-stage.ts";
import { followStream, type SessionEvent } from "../client/follow-stream.ts";
import { messageOf } from "./send.ts";

interface DemoTalk extends AsyncDisposable {
  /** Says something, as somebody who types it. */
  say(text: string, mode?: string): Promise<void>;
  /** The next event of this type, after the one that was waited for last. */
  until(type: string): Promise<SessionEvent>;
  /** The id of the next turn that is complete. */
  turn(): Promise<string>;
}

/** What takes longer does not happen at all. */
const WAIT_LIMIT_MS = 60_000;

/** Resolves when the stream is open: what is said before would be answered unseen. */
export async function openTalk(
  session: SessionKey,
  { home, stage }: { readonly home: string; readonly stage: DemoStage },
): Promise<DemoTalk> {
  const talk = new StagedTalk(session, home, stage);
  await talk.opened;
  return talk;
}

class StagedTalk implements DemoTalk {
  readonly #session: SessionKey;
  readonly #home: string;
  readonly #stage: DemoStage;
  readonly #left = new AbortController();
  readonly #server: ReturnType<typeof openChatServer>;
  readonly #opened = Promise.withResolvers<void>();
  readonly #events: SessionEvent[] = [];
  readonly #following: Promise<void>;
  #arrived = Promise.withResolvers<void>();
  #view: ChatView = IDLE;
  #isLost = false;

  constructor(session: SessionKey, home: string, stage: DemoStage) {
    this.#session = session;
    this.#home = home;
    this.#stage = stage;
    this.#server = openChatServer(home, this.#left.signal);
    this.#following = this.#follow().then(
      () => this.#opened.resolve(),
      (error: unknown) => {
        this.#opened.reject(error);
        this.#arrived.reject(error);
        this.#arrived.promise.catch(() => {}); // nobody may be waiting
      },
    );
  }

  get opened(): Promise<void> {
    return this.#opened.promise;
  }

  async say(text: string, mode?: string): Promise<void> {
    this.#stage.add(typedLines(text));
    await this.#server.say(messageOf(text, { session: this.#session, profile: undefined }, mode));
    if (mode !== undefined) this.#stage.add(note(`↳ SendResult while the agent works (${mode}).`));
  }

  async turn(): Promise<string> {
    return (await this.until("turn.committed"))["turnId"] as string;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#left.abort();
    await this.#following;
  }

  async until(type: string): Promise<SessionEvent> {
    const limit = new AbortController();
    const late = wait(WAIT_LIMIT_MS, undefined, { signal: limit.signal }).then(() => {
      throw new Error(`No ${type} in ${this.#session} within ${WAIT_LIMIT_MS / 1_000} seconds`);
    });
    late.catch(() => {}); // it came in time
    try {
      for (;;) {
        for (let event = this.#events.shift(); event !== undefined; event = this.#events.shift())
          if (event.type === type) return event;
        await Promise.race([this.#arrived.promise, late]);
      }
    } finally {
      limit.abort();
    }
  }

  async #follow(): Promise<void> {
    for await (const followed of followStream(this.#home, this.#session, this.#left.signal)) {
      switch (followed.kind) {
        case "open":
          if (this.#isLost) this.#stage.add(note("Connected again."));
          this.#isLost = false;
          this.#opened.resolve();
          break;
        case "lost":
          if (!this.#isLost) this.#stage.add(note("The connection is lost; trying to get it back."));
          this.#isLost = true;
          break;
        case "event":
          this.#take(followed.event);
          break;
      }
    }
  }

  #take(event: SessionEvent): void {
    const shown = showEvent(this.#view, event);
    this.#view = shown.view;
    this.#stage.add(...shown.pieces);
    this.#events.push(event);
    this.#arrived.resolve();
    this.#arrived = Promise.withResolvers<void>();
  }
}

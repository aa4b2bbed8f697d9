/** A session shown as in a chat; unlike a chat, it can wait for events. */
import assert from "node:assert/strict";
import { setTimeout as wait } from "node:timers/promises";

import type { SessionKey } from "../model/session-key.ts";
import { type ChatView, IDLE, note, showEvent, typedLines } from "./chat-view.ts";
import { openChatServer } from "./chat-server.ts";
import type { DemoStage } from "./demo-stage.ts";
import { followStream, type SessionEvent } from "../client/follow-stream.ts";
import { messageOf } from "./send.ts";

interface DemoTalk extends AsyncDisposable {
  /** Sends a message, shown as if typed. */
  say(text: string, mode?: string): Promise<void>;
  /** Waits for the next event of this type. */
  until(type: string): Promise<SessionEvent>;
  /** Waits for the next completed turn and returns its id. */
  turn(): Promise<string>;
}

const WAIT_LIMIT_MS = 60_000;

/** Resolves once the stream is open: an earlier message would be answered unseen. */
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
        this.#arrived.promise.catch(() => {}); // perhaps nothing is waiting for it
      },
    );
  }

  get opened(): Promise<void> {
    return this.#opened.promise;
  }

  async say(text: string, mode?: string): Promise<void> {
    this.#stage.add(typedLines(text));
    await this.#server.say(messageOf(text, { session: this.#session, profile: undefined }, mode));
    if (mode !== undefined) this.#stage.add(note(`↳ Sent while the agent is working (${mode}).`));
  }

  async turn(): Promise<string> {
    const { turnId } = await this.until("turn.committed");
    assert(typeof turnId === "string");
    return turnId;
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
    late.catch(() => {}); // the event came in time
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
          if (this.#isLost) this.#stage.add(note("Reconnected."));
          this.#isLost = false;
          this.#opened.resolve();
          break;
        case "lost":
          if (!this.#isLost) this.#stage.add(note("Connection lost; reconnecting…"));
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

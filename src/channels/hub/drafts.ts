/**
 * Shows an answer in its chat while it is written. In direct messages of a platform with native drafts, that is a draft that
 * vanishes by itself. Elsewhere it is one message, which is edited as the text grows, and which the first text of the answer
 * then replaces: an edit of the outbox, as durable as any message. So a draft never becomes the answer by itself.
 *
 * The store knows of such a message from before it is sent until the answer has replaced it or it was removed. A crash
 * right after the send leaves a message whose id is unknown: no other draft is sent for that turn.
 *
 * Shown is only what the chat would get as the answer at that moment: an answer that would be held, or is silent, is not.
 */
import { deliveriesOf } from "../../delivery/address.ts";
import { parseReply } from "../../delivery/reply-tags.ts";
import type { Follower } from "../../feature/live.ts";
import type { Ports } from "../../feature/ports.ts";
import { MINUTE_MS } from "../../model/durations.ts";
import { CortexError, errorText } from "../../model/errors.ts";
import type { DeliveryId, TurnId } from "../../model/ids.ts";
import { placeKindOf } from "../../model/event.ts";
import { SILENCE } from "../../model/reply-tool.ts";
import { answeredMessage } from "../../model/stamp.ts";
import { readTrust } from "../../model/trust.ts";
import { WakeLoop } from "../../model/wake-loop.ts";
import type { Claim, DeliveryTarget, Draft, Store } from "../../store/store.ts";
import { audienceOfTurn } from "../../turns/audience.ts";
import { isHeld } from "../../turns/hold-answer.ts";
import type { Address, Capabilities, Connection, OutgoingMessage } from "../channel.ts";

interface DraftPorts extends Pick<Ports, "live" | "clock" | "log" | "redact"> {
  readonly store: Pick<Store, "drafts" | "runs" | "queue" | "sessions" | "onWake">;
  /** The account of an address. Undefined: none, or it is not connected. */
  readonly wayTo: (to: Address) => DraftWay | undefined;
  readonly times?: Partial<DraftTimes>;
}

/** How drafts go to an account. */
interface DraftWay {
  /** Its setting. */
  readonly isOn: boolean;
  readonly can: Pick<Capabilities, "draft" | "edit" | "find">;
  readonly connection: Connection;
  /** The first message of a text, as it goes over the wire. */
  readonly render: (markdown: string) => string | undefined;
}

interface DraftTimes {
  /** A fast answer is there before anybody misses it. */
  readonly firstAfterMs: number;
  /** Between edits. Platforms allow few, and the answer needs one, too. */
  readonly editEveryMs: number;
  /** Between changes of a native draft. */
  readonly nativeEveryMs: number;
}

const TIMES: DraftTimes = { firstAfterMs: 2_500, editEveryMs: 3_000, nativeEveryMs: 1_000 };
/** More fits into no message. */
const MAX_TEXT_LENGTH = 16_000;
/** How long a platform may take. The answer waits for it. */
const TIMEOUT_MS = 10_000;
/** Answers that are written at the same time. Those beyond are not shown. */
const MAX_WRITING = 100;
/** Follows the text of a draft that is a message. */
const UNFINISHED = " …";

/** An answer that is being written. */
interface Writing {
  readonly claim: Claim;
  text: string;
  /** Whether the text is a whole message: it is shown until there is another. */
  isWhole: boolean;
  dueAtMs: number;
  /** What was shown last. */
  shown: string | undefined;
  /** Set as long as something is under way to the platform. */
  busy: Promise<void> | undefined;
  /** Nothing is shown any more. */
  isOver: boolean;
}

export class Drafts implements Follower, AsyncDisposable {
  readonly #ports: DraftPorts;
  readonly #times: DraftTimes;
  readonly #writing = new Map<TurnId, Writing>();
  /** When a removal that failed is tried again. */
  readonly #removals = new Map<TurnId, number>();
  readonly #loop: WakeLoop;
  #unfollow: () => void = () => {};

  constructor(ports: DraftPorts) {
    this.#ports = ports;
    this.#times = { ...TIMES, ...ports.times };
    this.#loop = new WakeLoop({
      round: () => this.#round(),
      listen(wake) {
        const unlisten = [ports.store.onWake("outbox", wake), ports.store.onWake("runs", wake)];
        return () => unlisten.forEach((each) => each());
      },
      pollMs: MINUTE_MS,
      gatherMs: GATHER_MS,
    });
  }

  start(): void {
    this.#unfollow = this.#ports.live.follow(this);
    this.#loop.start();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#unfollow();
    for (const writing of this.#writing.values()) writing.isOver = true;
    await this.#loop[Symbol.asyncDispose]();
    for (const { busy } of this.#writing.values()) await busy;
  }

  wrote(claim: Claim, text: string): void {
    const known = this.#writing.get(claim.turn);
    if (known?.claim.run === claim.run) {
      known.text = ((known.isWhole ? "" : known.text) + text).slice(0, MAX_TEXT_LENGTH);
      known.isWhole = false;
      return;
    }
    if (this.#writing.size >= MAX_WRITING) return;
    this.#writing.set(claim.turn, {
      claim,
      text,
      isWhole: false,
      dueAtMs: this.#ports.clock() + this.#times.firstAfterMs,
      shown: undefined,
      busy: undefined,
      isOver: false,
    });
    this.#loop.wake();
  }

  finished(claim: Claim): void {
    const writing = this.#writing.get(claim.turn);
    if (writing !== undefined) writing.isWhole = true;
  }

  /** The message that a delivery replaces. Once it resolves, no draft of its turn is changed any more. */
  async replacedBy(delivery: DeliveryId, turn: TurnId): Promise<string | undefined> {
    const { drafts } = this.#ports.store;
    const writing = this.#writing.get(turn);
    if (writing !== undefined && !(await this.#isAtWork(writing))) {
      writing.isOver = true;
      await writing.busy;
    }
    return (await drafts.ofDelivery(delivery))?.platformId;
  }

  /** The message cannot be edited any more. */
  forget(turn: TurnId): Promise<void> {
    return this.#ports.store.drafts.forget(turn);
  }

  async #isAtWork({ claim }: Writing): Promise<boolean> {
    return (await this.#ports.store.runs.get(claim.run))?.state === "running";
  }

  async #round(): Promise<number | undefined> {
    await this.#settleDrafts();
    const nowMs = this.#ports.clock();
    for (const writing of this.#writing.values()) {
      if (writing.busy !== undefined || writing.dueAtMs > nowMs) continue;
      if (writing.isOver || !(await this.#isAtWork(writing))) this.#writing.delete(writing.claim.turn);
      else this.#begin(writing);
    }
    const due = [...this.#writing.values()].map(({ dueAtMs }) => dueAtMs);
    return due.length === 0 ? undefined : Math.max(Math.min(...due) - this.#ports.clock(), MIN_PAUSE_MS);
  }

  /** Other drafts do not wait for a slow platform. */
  #begin(writing: Writing): void {
    writing.dueAtMs = this.#ports.clock() + this.#times.editEveryMs;
    writing.busy = this.#show(writing)
      .catch((error: unknown) => {
        writing.isOver = true; // the answer comes all the same
        this.#ports.log(`Cannot show an answer while it is written: ${errorText(error)}`);
      })
      .finally(() => {
        writing.busy = undefined;
      });
  }

  async #show(writing: Writing): Promise<void> {
    const { claim, text } = writing;
    const said = this.#ports.redact(text);
    if (isSilent(said)) return;
    const place = await this.#placeOf(claim);
    if (place === undefined) return void (writing.isOver = true);
    const { way, to, isDirect } = place;
    const visible = parseReply(withoutOpenTag(said)).text;
    const isNative = way.can.draft === "native" && isDirect && way.connection.draft !== undefined;
    const wire = way.render(isNative ? visible : visible.trimEnd() + UNFINISHED);
    if (wire === undefined || wire === writing.shown || writing.isOver) return;
    if ((way.connection.paceMs?.(to) ?? 0) > 0) return;
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    if (isNative) {
      writing.dueAtMs = this.#ports.clock() + this.#times.nativeEveryMs;
      await way.connection.draft?.(to, { id: draftId(claim.turn), wire }, signal);
    } else if (way.can.edit) {
      await this.#showMessage(writing, { way, to, wire }, signal);
    }
    writing.shown = wire;
  }

  async #showMessage(
    writing: Writing,
    { way: { connection }, to, wire }: { way: DraftWay; to: DeliveryTarget; wire: string },
    signal: AbortSignal,
  ): Promise<void> {
    const { drafts } = this.#ports.store;
    const { turn, run } = writing.claim;
    const draft = await drafts.get(turn);
    if (draft?.platformId !== undefined)
      return connection.edit?.({ ...to, messageId: draft.platformId }, wire, signal);
    // There is one whose id is unknown, or the run has ended.
    if (!(await drafts.begin(run, to))) return void (writing.isOver = true);
    const { platformId } = await connection.send(messageOf(turn, to, wire), signal);
    if (platformId !== undefined) await drafts.sent(turn, platformId);
  }

  /** Where the answer would go at this moment. Undefined: nowhere that is connected, or only once it is approved. */
  async #placeOf({ turn, lease }: Claim) {
    const { store, wayTo } = this.#ports;
    const items = await store.queue.itemsOf(turn);
    const item = answeredMessage(items);
    if (item === undefined || item.event.direction !== "received") return undefined;
    const delivery = item.dispatches.find((dispatch) => dispatch.delivery !== undefined)?.delivery;
    const [answer] = deliveriesOf({ text: "…", source: item.event, delivery, mintId: () => "" });
    const way = answer && wayTo(answer.target);
    if (answer === undefined || way === undefined || !way.isOn || way.can.draft === undefined)
      return undefined;
    const label = readTrust((await store.sessions.get(lease.session))?.settings ?? {});
    if (isHeld(label, audienceOfTurn(items))) return undefined;
    const isDirect = answer.target.place === item.event.place && placeKindOf(item.event) === "dm";
    return { way, to: answer.target, isDirect };
  }

  /** Forgets drafts that have become answers, and removes those that nothing will replace. */
  async #settleDrafts(): Promise<void> {
    const { drafts } = this.#ports.store;
    for (const draft of await drafts.list()) {
      if (draft.state === "replaced") await drafts.forget(draft.turn);
      if (draft.state === "stale" && this.#writing.get(draft.turn)?.busy === undefined)
        await this.#remove(draft);
    }
  }

  async #remove({ turn, target, platformId }: Draft): Promise<void> {
    const { store, clock, log, wayTo } = this.#ports;
    const way = wayTo(target);
    const nowMs = clock();
    if (way === undefined || (this.#removals.get(turn) ?? 0) > nowMs) return; // when it is connected again, or later
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    try {
      const messageId = platformId ?? (await find(turn, target, way, signal));
      if (messageId !== undefined) await way.connection.remove?.({ ...target, messageId }, signal);
    } catch (error) {
      log(`Cannot remove the draft of an answer: ${errorText(error)}`);
      if (error instanceof CortexError && error.transient)
        return void this.#removals.set(turn, nowMs + MINUTE_MS);
    }
    this.#removals.delete(turn);
    await store.drafts.forget(turn);
  }
}

/** Rounds that follow each other at once would do nothing new. */
const GATHER_MS = 100;
const MIN_PAUSE_MS = 50;

function find(turn: TurnId, to: DeliveryTarget, { can, connection }: DraftWay, signal: AbortSignal) {
  if (!can.find) return undefined;
  return connection.find?.(messageOf(turn, to, ""), signal).then((receipt) => receipt?.platformId);
}

function messageOf(turn: TurnId, address: DeliveryTarget, content: string): OutgoingMessage {
  return {
    key: `${turn}-d`,
    delivery: turn as string as DeliveryId,
    turn,
    address,
    chunk: 0,
    chunks: 1,
    content,
    replyTo: undefined,
    attempt: 1,
    repeat: false,
  };
}

/** The same over the whole turn. The last characters of an id are random. */
function draftId(turn: TurnId): number {
  return Number.parseInt(turn.slice(-6), 32) % 2 ** 30 || 1;
}

/** Also while it may become so. */
function isSilent(text: string): boolean {
  const said = text.trim();
  return said === "" || SILENCE.startsWith(said) || parseReply(text).silent;
}

/** A tag of which the end is not written yet. */
function withoutOpenTag(text: string): string {
  const open = text.lastIndexOf("[[");
  return open >= 0 && !text.slice(open).includes("]]") ? text.slice(0, open) : text.replace(/\[$/, "");
}

/**
 * Lets the members work that Cortex manages: one task at a time each, many members at once.
 *
 * The file is the truth about a task, the store about the turn that works on it. What is about to be done is kept first,
 * then the task is claimed in the file, then the turn is asked for; each of these can be done again and is done once. So
 * whatever is read after a crash, going on from it is what would have been done anyway. In memory are only the members
 * that are waited for, and the order in which the moves of one member are made.
 */
import type { EventId, ItemId } from "../../model/ids.ts";
import { isManagedNote } from "../files/adoption.ts";
import { beginWork, type Begun } from "./begin-work.ts";
import { chooseWork, foreignTickMs, hasActive, placeOf } from "./choose-work.ts";
import { type DispatchedTask, dispatchTask, memberOf, type TaskWish } from "../members/dispatch-task.ts";
import { doneBefore, markDone, withDone } from "./done-before.ts";
import { reportExternal } from "./external-work.ts";
import { type MemberFiles, readMember } from "../members/member-files.ts";
import {
  type MemberState,
  readState,
  refOf,
  troublesBut,
  troubleWith,
  type Work,
  writeState,
} from "./member-state.ts";
import { findTask } from "../markdown/read-tasks.ts";
import { recordEnd } from "./record-end.ts";
import { toStamp } from "../markdown/stamp.ts";
import { eventOfWork, withCause, withoutCause } from "./task-causes.ts";
import { gistOf } from "../markdown/task-gist.ts";
import { externalPathOf, type TaskRef } from "../markdown/task.ts";
import type { Team } from "../files/team.ts";
import { readTurnEnd, type WorkEnd } from "./work-end.ts";
import type { WorkParts } from "./workplace.ts";

/** How many tasks of one member are looked at in a row. A heartbeat later it goes on. */
const MAX_TASKS_AT_ONCE = 100;
/** After a failure that is not the task's. */
const RETRY_MS = 10_000;

export interface Moved {
  /** waiting: all that there is to do is flagged, or somebody else is at it, or it is tried again later. */
  readonly state: "working" | "idle" | "waiting";
  readonly task?: TaskRef;
  readonly detail?: string;
}

interface Pursuit {
  readonly state: MemberState;
  /** The message that asks for its turn, where that was asked for. */
  readonly item: ItemId | undefined;
  readonly isFresh: boolean;
}

export class Workers implements AsyncDisposable {
  readonly #parts: WorkParts;
  /** The last move of each member that is being made. */
  readonly #lanes = new Map<string, Promise<unknown>>();
  /** What is waited for, by member. */
  readonly #waits = new Map<string, { readonly work: string; readonly ended: Promise<void> }>();
  readonly #closing = new AbortController();

  constructor(parts: WorkParts) {
    this.#parts = parts;
  }

  /** Goes on with what was under way. */
  async recover(): Promise<void> {
    const { store, folder } = this.#parts;
    for (const { member, state } of await store.team.list(folder.root))
      if (readState(state).work !== undefined) this.#goOn(member);
  }

  /** A heartbeat: takes up what is to be done, tries again what has failed, and writes the tick. */
  beat(slug: string): Promise<Moved> {
    return this.inLane(slug, async () => {
      const moved = await this.#move(slug, true);
      if (moved.state !== "idle") await this.#tick(slug);
      return moved;
    });
  }

  /** Whenever the process dies, a task that is in the file has its cause in the store. */
  dispatch(
    wish: TaskWish,
    { cause: event, team }: { readonly cause: EventId; readonly team: Team },
  ): Promise<DispatchedTask> {
    const { folder, store, clock } = this.#parts;
    const { slug, tasks } = memberOf(wish.agent, team);
    return this.inLane(slug, () =>
      dispatchTask(wish, team, folder, async (gist) => {
        const state = readState((await store.team.get(folder.root, slug))?.state);
        const caused = withCause(state, { gist, event, atMs: clock() }, tasks);
        await store.team.keep({ team: folder.root, member: slug, state: writeState(caused) });
      }),
    );
  }

  /** Turns go on by themselves. What is recorded of them is recorded after the next start. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    await Promise.allSettled(this.#lanes.values());
    await Promise.allSettled(Array.from(this.#waits.values(), ({ ended }) => ended));
  }

  /** Does something between two moves of a member. */
  inLane<Result>(slug: string, move: () => Promise<Result>): Promise<Result> {
    const before = this.#lanes.get(slug) ?? Promise.resolve();
    const mine = before.catch(() => {}).then(move); // whoever asked for the one before is told
    this.#lanes.set(slug, mine);
    const forget = (): void => void (this.#lanes.get(slug) === mine && this.#lanes.delete(slug));
    mine.then(forget, forget);
    return mine;
  }

  /** Nobody waits for it: a failure is told, and it is tried again. */
  #goOn(slug: string, end?: { readonly work: string; readonly end: WorkEnd }): void {
    if (this.#closing.signal.aborted) return;
    this.inLane(slug, () => this.#move(slug, false, end)).catch((error: unknown) => {
      if (this.#closing.signal.aborted) return;
      this.#parts.onProblem(error, slug);
      setTimeout(() => this.#goOn(slug, end), RETRY_MS).unref();
    });
  }

  async #move(
    slug: string,
    isBeat: boolean,
    known?: { readonly work: string; readonly end: WorkEnd },
  ): Promise<Moved> {
    const { folder, store, clock, timezone, heartbeatMinutes } = this.#parts;
    const passed = new Set<string>();
    let beats = isBeat;
    let last: Moved = { state: "idle" };
    for (let looked = 0; looked < MAX_TASKS_AT_ONCE; looked++) {
      const member = await readMember(slug, folder);
      const stored = await store.team.get(folder.root, slug);
      const state = await this.#noteOthers(member, readState(stored?.state));
      const { item } = stored ?? { item: undefined };
      const { work } = state;
      if (work !== undefined) {
        const end = known?.work === work.id ? known.end : await this.#endOf(item);
        if (end !== undefined) await this.#end(member, { state, work, end, item });
        else if (await this.#pursue(member, { state, item, isFresh: false }))
          return { state: "working", task: refOf(work) };
        beats &&= end?.kind !== "failed"; // once a tick
        continue;
      }
      const isOurs = member.note.status === "active" && isManagedNote(member.note, this.#parts.adopts());
      if (!isOurs) return { state: "waiting", detail: "it has left the team, or somebody else runs it" };
      const choice = chooseWork(member.tasks, state, {
        nowMs: clock(),
        timezone: timezone(),
        heartbeatMinutes: heartbeatMinutes(),
        isBeat: beats,
        passed,
      });
      if (choice.kind === "waiting") {
        const why = last.detail === undefined ? choice.why : `${last.detail}; ${choice.why}`;
        return { state: "waiting", detail: why };
      }
      if (choice.kind === "idle") return last;
      if (!(await this.#parts.isKept()))
        return { state: "waiting", detail: "another Cortex lets the team work now" };
      const { task } = choice;
      const done = doneBefore(task, member.tasks, {
        ...state,
        nowMs: clock(),
        addedMs: (gist) => folder.addedMs(member.tasksPath, gist),
      });
      if (done !== undefined) {
        await markDone(folder, member.tasksPath, { task: refOf(task), done });
        passed.add(placeOf(task));
        last = { state: "waiting", task: refOf(task), detail: `it was done before, on ${done.completed}` };
        continue;
      }
      const path = externalPathOf(task);
      if (path !== undefined) {
        const report = await reportExternal(member, { task, path }, this.#parts);
        last = { state: "waiting", task: refOf(task), detail: report.detail };
        passed.add(placeOf(task)); // whoever waits for another runner does not keep the other tasks waiting
        if (report.kind !== "open") this.#parts.onEnded(slug);
        continue;
      }
      const started = choice.kind === "claim" ? toStamp(clock(), timezone()) : task.started;
      const begun: Work = {
        ...refOf({ ...task, started }),
        id: this.#parts.mintId(),
        gist: gistOf(task),
      };
      const next = { ...state, work: begun };
      await this.#keep(slug, next);
      if (await this.#pursue(member, { state: next, item: undefined, isFresh: choice.kind === "claim" }))
        return { state: "working", task: refOf(begun) };
    }
    return last;
  }

  /** Their tick is overwritten by ours, and must not be forgotten with it. */
  async #noteOthers({ slug, tasks }: MemberFiles, state: MemberState): Promise<MemberState> {
    const { folder, store, clock, timezone } = this.#parts;
    const tickedMs = foreignTickMs(tasks, state, { nowMs: clock(), timezone: timezone() });
    if (tickedMs === undefined || tickedMs === state.foreignTickMs) return state;
    const noted = { ...state, foreignTickMs: tickedMs };
    await store.team.keep({ team: folder.root, member: slug, state: writeState(noted) });
    return noted;
  }

  async #endOf(item: ItemId | undefined): Promise<WorkEnd | undefined> {
    return item === undefined ? undefined : readTurnEnd(item, this.#parts.store);
  }

  /** Sees to it that the task is worked on, and waits for the end. False: we do not work on it any more. */
  async #pursue(member: MemberFiles, { state, item, isFresh }: Pursuit): Promise<boolean> {
    const { slug } = member;
    const work = state.work!;
    const { signal } = this.#closing;
    const begun = underWay(work, item) ?? (await beginWork(member, { work, state, isFresh }, this.#parts));
    switch (begun.kind) {
      case "turn":
        this.#wait(
          slug,
          work,
          this.#parts.settled(begun.item, signal).then(() => undefined),
        );
        return true;
      case "relay":
        if (work.relay === undefined)
          await this.#keep(slug, { ...state, work: { ...work, relay: begun.relay } });
        this.#wait(slug, work, this.#relayEnd(begun.relay, signal));
        return true;
      case "lost":
        await this.#keep(slug, withoutWork(state));
        return false;
      case "unfit": {
        const end: WorkEnd = { kind: "flagged", reason: begun.reason, atMs: this.#parts.clock() };
        await this.#record(await readMember(slug, this.#parts.folder), { state, work, end });
        return false;
      }
    }
  }

  async #relayEnd(relay: string, signal: AbortSignal): Promise<WorkEnd | undefined> {
    const end = await this.#parts.relays.ended(relay, signal);
    if (end === undefined) return undefined;
    const { isDone, text, atMs } = end;
    return isDone ? { kind: "done", summary: text, atMs } : { kind: "failed", error: text, atMs };
  }

  /** The end of a turn is in the store; that of a relay comes with the promise. */
  #wait(slug: string, work: Work, over: Promise<WorkEnd | undefined>): void {
    if (this.#waits.get(slug)?.work === work.id) return;
    const ended = this.#goOnAfter(slug, work, over);
    this.#waits.set(slug, { work: work.id, ended });
  }

  async #goOnAfter(slug: string, work: Work, over: Promise<WorkEnd | undefined>): Promise<void> {
    try {
      const end = await over;
      if (this.#waits.get(slug)?.work === work.id) this.#waits.delete(slug);
      this.#goOn(slug, end === undefined ? undefined : { work: work.id, end });
    } catch (error) {
      this.#waits.delete(slug); // the next heartbeat waits again
      if (!this.#closing.signal.aborted) this.#parts.onProblem(error, slug);
    }
  }

  /** What has failed is tried again as another turn: nobody else has to care about the message. */
  async #end(
    member: MemberFiles,
    ended: { state: MemberState; work: Work; end: WorkEnd; item: ItemId | undefined },
  ): Promise<void> {
    const { queue } = this.#parts.store;
    const { item } = ended;
    await this.#record(member, ended);
    const isDead = item !== undefined && (await queue.outcome(item))?.state === "dead";
    if (isDead) await queue.dropDead(item);
  }

  async #record(
    member: MemberFiles,
    { state, work, end, item }: { state: MemberState; work: Work; end: WorkEnd; item?: ItemId | undefined },
  ): Promise<void> {
    const { folder, timezone } = this.#parts;
    const before = findTask(member.tasks, work);
    const failures = (before === undefined ? undefined : troubleWith(before, state))?.failures ?? 0;
    const recorded = await recordEnd(member, { work, end, failures, timezone: timezone() }, folder);
    const event = item === undefined ? {} : { event: eventOfWork(work) };
    const troubles = [
      ...troublesBut(work, state, recorded.file),
      ...(recorded.trouble === undefined ? [] : [{ ...recorded.trouble, ...event }]),
    ];
    const { slug } = member;
    const settled = { ...withoutWork(state), troubles };
    const { done } = recorded;
    await this.#keep(slug, done === undefined ? settled : withoutCause(withDone(settled, done), done.gist));
    this.#parts.onEnded(slug);
  }

  /** The message of its last turn is over, or there was none. */
  async #keep(slug: string, state: MemberState): Promise<void> {
    const { folder, store } = this.#parts;
    await store.team.keep({ team: folder.root, member: slug, state: writeState(state), isOver: true });
  }

  /** Nothing to do, nothing to write. */
  async #tick(slug: string): Promise<void> {
    const { folder, store, clock, timezone } = this.#parts;
    const { tasksPath, tasks } = await readMember(slug, folder);
    const state = readState((await store.team.get(folder.root, slug))?.state);
    if (!hasActive(tasks) && state.work === undefined) return;
    const tickMs = clock();
    const tick = toStamp(tickMs, timezone());
    await folder.edit(tasksPath, { file: "tasks", edit: { kind: "tick", stamp: tick } });
    await store.team.keep({ team: folder.root, member: slug, state: writeState({ ...state, tickMs, tick }) });
  }
}

/** Undefined: nothing was asked for yet, or we were cut off before it was kept. */
function underWay({ relay }: Work, item: ItemId | undefined): Begun | undefined {
  if (relay !== undefined) return { kind: "relay", relay };
  return item === undefined ? undefined : { kind: "turn", item };
}

function withoutWork(state: MemberState): MemberState {
  const { work: _, ...rest } = state;
  return rest;
}

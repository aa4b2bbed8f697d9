/**
 * Runs the members that Cortex manages: one task at a time each, many members at once.
 *
 * The file is the truth about a task, the store about the turn that works on it. The intent is stored first, then the task
 * is claimed in the file, then the turn is requested; each step is idempotent. So after a crash, continuing from whatever was
 * stored has the same result as without the crash. In memory are only the members we wait for, and the order of each
 * member's moves.
 */
import type { EventId, ItemId, TurnId } from "../../model/ids.ts";
import { OWNER_PRINCIPAL } from "../../model/principal.ts";
import { isManagedNote } from "../files/adoption.ts";
import { beginWork, type WorkStart } from "./begin-work.ts";
import { chooseWork, foreignTickMs, keyOfTask } from "./choose-work.ts";
import { type DispatchedTask, dispatchTask, memberOf, type TaskWish } from "../members/dispatch-task.ts";
import { doneBefore, markDone, withDone } from "./done-before.ts";
import { reportExternal } from "./external-work.ts";
import { type MemberFiles, readMember } from "../members/member-files.ts";
import {
  type CurrentTask,
  type MemberState,
  readMemberState,
  refOf,
  troublesBut,
  troubleWith,
} from "./member-state.ts";
import { findTask } from "../markdown/read-tasks.ts";
import { recordEnd, readTurnEnd, waitForRelay, type WorkEnd } from "./work-end.ts";
import { toStamp } from "../markdown/stamp.ts";
import { type TaskWords, withoutTaskLabel, withTaskLabel, wordsOfTask } from "./task-labels.ts";
import { labelOfWork } from "./work-label.ts";
import { eventOfWork, withCause, withoutCause } from "./task-causes.ts";
import { gistOf } from "../markdown/task-gist.ts";
import { externalPathOf, isActive, type Task, type TaskRef } from "../markdown/task.ts";
import type { Team } from "../files/team.ts";
import type { Workplace } from "./workplace.ts";

/** How many tasks of one member are handled in a row. The next heartbeat continues. */
const MAX_TASKS_AT_ONCE = 100;
/** After a failure that is not the task's fault. */
const RETRY_MS = 10_000;

/** What a member does after checking its tasks. */
interface Move {
  /** waiting: all remaining tasks are flagged, foreign, or retried later. */
  readonly state: "working" | "idle" | "waiting";
  readonly task?: TaskRef;
  readonly detail?: string;
}

/** The end of a relay, which its promise resolves to. The end of a turn is in the store. */
interface KnownEnd {
  readonly work: string;
  readonly end: WorkEnd;
}

interface Pursuit {
  readonly work: CurrentTask;
  readonly state: MemberState;
  /** The message that requests its turn, if one was ordered. */
  readonly item: ItemId | undefined;
  readonly isFresh: boolean;
}

/** Where the task of an agent comes from. */
export interface TaskOrigin {
  readonly cause: EventId;
  readonly words: TaskWords;
  /** The turn that dispatches it. */
  readonly turn: TurnId;
}

interface Overseer {
  /** Whether this Cortex still works on the team: another one may have taken over while the machine was asleep. */
  isKept(): Promise<boolean>;
  /** Called when a task has ended, whether done or not. */
  onEnded(): void;
}

export class Workers implements AsyncDisposable {
  readonly #place: Workplace;
  readonly #overseer: Overseer;
  /** The last pending move of each member. */
  readonly #lanes = new Map<string, Promise<unknown>>();
  /** The work we wait for, by member. */
  readonly #waits = new Map<string, { readonly work: string; readonly ended: Promise<void> }>();
  readonly #closing = new AbortController();

  constructor(place: Workplace, overseer: Overseer) {
    this.#place = place;
    this.#overseer = overseer;
  }

  /** Resumes interrupted work. */
  async recover(): Promise<void> {
    const { store, team } = this.#place;
    for (const { member, state } of await store.team.list(team.root))
      if (readMemberState(state).work !== undefined) this.#goOn(member);
  }

  /** A heartbeat: takes up tasks, retries failed ones, and writes the tick. */
  beat(slug: string): Promise<Move> {
    return this.inLane(slug, async () => {
      const move = await this.#move(slug, true);
      if (move.state !== "idle") await this.#tick(slug);
      return move;
    });
  }

  /** Where it comes from is stored before the task is in the file, so a crash never leaves a task without that. */
  dispatch(
    wish: TaskWish,
    { cause: event, words, turn, team }: TaskOrigin & { readonly team: Team },
  ): Promise<DispatchedTask> {
    const { team: directory, labels, store, clock } = this.#place;
    const { slug, tasks, tasksPath } = memberOf(wish.agent, team);
    return this.inLane(slug, () =>
      dispatchTask(wish, team, directory.folder, async (task) => {
        const state = readMemberState((await store.team.get(directory.root, slug))?.state);
        const caused = withCause(state, { gist: gistOf(task), event, atMs: clock() }, tasks);
        const labelled = withTaskLabel(caused, task, words);
        await store.team.keep({ team: directory.root, member: slug, state: labelled });
        await labels.addPart(tasksPath, words.label, { principal: words.principal, turn });
      }),
    );
  }

  /** Turns continue without us. Their ends are recorded after the next start. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    await Promise.allSettled(this.#lanes.values());
    await Promise.allSettled(Array.from(this.#waits.values(), ({ ended }) => ended));
  }

  /** Runs something between two moves of a member. */
  inLane<Result>(slug: string, move: () => Promise<Result>): Promise<Result> {
    const before = this.#lanes.get(slug) ?? Promise.resolve();
    const mine = before.catch(() => {}).then(move); // reported to its caller
    this.#lanes.set(slug, mine);
    const forget = (): void => void (this.#lanes.get(slug) === mine && this.#lanes.delete(slug));
    mine.then(forget, forget);
    return mine;
  }

  /** Runs in the background: a failure is reported and retried. */
  #goOn(slug: string, end?: KnownEnd): void {
    if (this.#closing.signal.aborted) return;
    this.inLane(slug, () => this.#move(slug, false, end)).catch((error: unknown) => {
      if (this.#closing.signal.aborted) return;
      this.#place.onProblem(error, slug);
      setTimeout(() => this.#goOn(slug, end), RETRY_MS).unref();
    });
  }

  async #move(slug: string, isBeat: boolean, known?: KnownEnd): Promise<Move> {
    const { team, store } = this.#place;
    const passed = new Set<string>();
    let beats = isBeat;
    let last: Move = { state: "idle" };
    for (let looked = 0; looked < MAX_TASKS_AT_ONCE; looked++) {
      const member = await readMember(slug, team.folder);
      const stored = await store.team.get(team.root, slug);
      const state = await this.#noteOthers(member, readMemberState(stored?.state));
      const { work } = state;
      if (work === undefined) {
        const { move, isLast } = await this.#takeUp(member, state, { isBeat: beats, passed, last });
        if (isLast) return move;
        last = move;
        continue;
      }
      const item = stored?.item;
      const end = known?.work === work.id ? known.end : await this.#endOf(item);
      if (end !== undefined) await this.#end(member, { state, work, end, item });
      else if (await this.#pursue(member, { work, state, item, isFresh: false }))
        return { state: "working", task: refOf(work) };
      beats &&= end?.kind !== "failed"; // a tick retries once
    }
    return last;
  }

  /** Chooses and starts a task. `isLast`: this move is over. */
  async #takeUp(
    member: MemberFiles,
    state: MemberState,
    { isBeat, passed, last }: { readonly isBeat: boolean; readonly passed: Set<string>; readonly last: Move },
  ): Promise<{ readonly move: Move; readonly isLast: boolean }> {
    const { team, clock, mintId } = this.#place;
    const { timezone, config, folder } = team;
    const stop = (move: Move) => ({ move, isLast: true });
    const pass = (task: Task, detail: string) => {
      passed.add(keyOfTask(task));
      return { move: { state: "waiting" as const, task: refOf(task), detail }, isLast: false };
    };
    const isOurs = member.note.status === "active" && isManagedNote(member.note, team.adopts);
    if (!isOurs)
      return stop({ state: "waiting", detail: "it has left the team, or another program runs it" });
    const { heartbeatMinutes } = config;
    const now = { nowMs: clock(), timezone, heartbeatMinutes, isBeat, passed };
    const choice = chooseWork(member.tasks, state, now);
    if (choice.kind === "waiting")
      return stop({
        state: "waiting",
        detail: last.detail === undefined ? choice.why : `${last.detail}; ${choice.why}`,
      });
    if (choice.kind === "idle") return stop(last);
    if (!(await this.#overseer.isKept()))
      return stop({ state: "waiting", detail: "another Cortex works on the team now" });
    const { task } = choice;
    const addedMs = (gist: string): number => folder.addedMs(member.tasksPath, gist);
    const done = doneBefore(task, member.tasks, { ...state, nowMs: clock(), addedMs });
    if (done !== undefined) {
      await markDone(folder, member.tasksPath, { task: refOf(task), done });
      return pass(task, `already done on ${done.completed}`);
    }
    const path = externalPathOf(task);
    if (path !== undefined) {
      const report = await reportExternal(member, { task, path }, team);
      if (report.kind !== "open") this.#overseer.onEnded();
      return pass(task, report.detail); // waiting for another runner does not block other tasks
    }
    const started = choice.kind === "claim" ? toStamp(clock(), timezone) : task.started;
    const work: CurrentTask = { ...refOf({ ...task, started }), id: mintId(), gist: gistOf(task) };
    const next = { ...state, work };
    await this.#keep(member.slug, next);
    const isFresh = choice.kind === "claim";
    const isWorking = await this.#pursue(member, { work, state: next, item: undefined, isFresh });
    return isWorking ? stop({ state: "working", task: refOf(work) }) : { move: last, isLast: false };
  }

  /** Remembers foreign ticks, which ours overwrite in the file. */
  async #noteOthers({ slug, tasks }: MemberFiles, state: MemberState): Promise<MemberState> {
    const { team, store, clock } = this.#place;
    const tickedMs = foreignTickMs(tasks, state, { nowMs: clock(), timezone: team.timezone });
    if (tickedMs === undefined || tickedMs === state.foreignTickMs) return state;
    const noted = { ...state, foreignTickMs: tickedMs };
    await store.team.keep({ team: team.root, member: slug, state: noted });
    return noted;
  }

  async #endOf(item: ItemId | undefined): Promise<WorkEnd | undefined> {
    return item === undefined ? undefined : readTurnEnd(item, this.#place.store);
  }

  /** Ensures that the task is worked on, and waits for its end. False: we no longer work on it. */
  async #pursue(member: MemberFiles, { work, state, item, isFresh }: Pursuit): Promise<boolean> {
    const { slug } = member;
    const { outcomes, team, clock } = this.#place;
    const { signal } = this.#closing;
    const start = underWay(work, item) ?? (await beginWork(member, { work, state, isFresh }, this.#place));
    switch (start.kind) {
      case "turn":
        this.#wait(
          slug,
          work,
          outcomes.wait(start.item, signal).then(() => undefined),
        );
        return true;
      case "relay":
        if (work.relay === undefined)
          await this.#keep(slug, { ...state, work: { ...work, relay: start.relay } });
        this.#wait(slug, work, waitForRelay(start.relay, signal, this.#place));
        return true;
      case "lost":
        await this.#keep(slug, withoutWork(state));
        return false;
      case "unfit": {
        const end: WorkEnd = { kind: "flagged", reason: start.reason, atMs: clock() };
        await this.#record(await readMember(slug, team.folder), { state, work, end });
        return false;
      }
    }
  }

  /** `over` resolves to the end of a relay, or to undefined for a turn, whose end is in the store. */
  #wait(slug: string, work: CurrentTask, over: Promise<WorkEnd | undefined>): void {
    if (this.#waits.get(slug)?.work === work.id) return;
    const ended = this.#goOnAfter(slug, work, over);
    this.#waits.set(slug, { work: work.id, ended });
  }

  async #goOnAfter(slug: string, work: CurrentTask, over: Promise<WorkEnd | undefined>): Promise<void> {
    try {
      const end = await over;
      if (this.#waits.get(slug)?.work === work.id) this.#waits.delete(slug);
      this.#goOn(slug, end === undefined ? undefined : { work: work.id, end });
    } catch (error) {
      this.#waits.delete(slug); // the next heartbeat waits again
      if (!this.#closing.signal.aborted) this.#place.onProblem(error, slug);
    }
  }

  /** A failed task is retried as a new turn, so its dead message is dropped. */
  async #end(
    member: MemberFiles,
    ended: { state: MemberState; work: CurrentTask; end: WorkEnd; item: ItemId | undefined },
  ): Promise<void> {
    const { queue } = this.#place.store;
    const { item } = ended;
    await this.#record(member, ended);
    const isDead = item !== undefined && (await queue.outcome(item))?.state === "dead";
    if (isDead) await queue.dropDead(item);
  }

  async #record(
    member: MemberFiles,
    {
      state,
      work,
      end,
      item,
    }: { state: MemberState; work: CurrentTask; end: WorkEnd; item?: ItemId | undefined },
  ): Promise<void> {
    const { folder, timezone } = this.#place.team;
    const before = findTask(member.tasks, work);
    const failures = (before === undefined ? undefined : troubleWith(before, state))?.failures ?? 0;
    const label = await labelOfWork(work, member.slug, this.#place);
    const given = before === undefined ? undefined : await wordsOfTask(before, state, this.#place);
    for (const path of [member.tasksPath, member.notePath])
      await this.#place.labels.addPart(path, label, { principal: given?.principal ?? OWNER_PRINCIPAL });
    const recorded = await recordEnd(member, { work, end, failures, timezone }, folder);
    const event = item === undefined ? {} : { event: eventOfWork(work) };
    const troubles = [
      ...troublesBut(work, state, recorded.file),
      ...(recorded.trouble === undefined ? [] : [{ ...recorded.trouble, ...event }]),
    ];
    const { slug } = member;
    const settled = { ...withoutWork(state), troubles };
    const { done, file } = recorded;
    // What was noted about a task that goes on is a part of it.
    const next =
      done !== undefined
        ? withoutTaskLabel(withoutCause(withDone(settled, done), done.gist), file.tasks, done.gist)
        : before === undefined || given === undefined
          ? settled
          : withTaskLabel(settled, before, { ...given, label });
    await this.#keep(slug, next);
    this.#overseer.onEnded();
  }

  /** Stores the state of a member without a pending turn. */
  async #keep(slug: string, state: MemberState): Promise<void> {
    const { team, store } = this.#place;
    await store.team.keep({ team: team.root, member: slug, state, isOver: true });
  }

  /** Writes the tick if there is something to do. */
  async #tick(slug: string): Promise<void> {
    const { store, clock } = this.#place;
    const { root, folder, timezone } = this.#place.team;
    const { tasksPath, tasks } = await readMember(slug, folder);
    const state = readMemberState((await store.team.get(root, slug))?.state);
    if (!tasks.tasks.some(isActive) && state.work === undefined) return;
    const tickMs = clock();
    const tick = toStamp(tickMs, timezone);
    await folder.edit(tasksPath, { file: "tasks", edit: { kind: "tick", stamp: tick } });
    await store.team.keep({ team: root, member: slug, state: { ...state, tickMs, tick } });
  }
}

/** Undefined: nothing was requested yet, or a crash prevented storing it. */
function underWay({ relay }: CurrentTask, item: ItemId | undefined): WorkStart | undefined {
  if (relay !== undefined) return { kind: "relay", relay };
  return item === undefined ? undefined : { kind: "turn", item };
}

function withoutWork(state: MemberState): MemberState {
  const { work: _, ...rest } = state;
  return rest;
}

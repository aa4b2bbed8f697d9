/**
 * The heartbeats of a team: when each member was last looked at decides when it is looked at next, so that neither a
 * restart nor a machine that was asleep skips a heartbeat or makes up for many.
 */
import { MINUTE_MS } from "../../model/durations.ts";
import { CortexError } from "../../model/errors.ts";
import type { EventId } from "../../model/ids.ts";
import { WakeLoop } from "../../model/wake-loop.ts";
import { type CoordinatorParts, coordinate, introduce } from "./coordinator.ts";
import { whyForeign } from "../files/adoption.ts";
import { nextDailyMs } from "./daily.ts";
import type { DispatchedTask, TaskWish } from "../members/dispatch-task.ts";
import type { Keeper } from "./keeper.ts";
import { memberUnknown } from "../members/member-files.ts";
import { readState } from "./member-state.ts";
import type { TaskRef } from "../markdown/task.ts";
import { COORDINATOR, findMember, type Member } from "../files/team.ts";
import type { WorkParts } from "./workplace.ts";
import { Workers } from "./worker.ts";

export interface HeartParts extends Omit<WorkParts, "onEnded" | "isKept">, CoordinatorParts {
  /** Says that we let the team work. Gives who does, where that is somebody else. */
  readonly keep: () => Promise<Keeper | undefined>;
}

/** The clock may be set, and settings change: the floor of looking. */
const LOOK_MS = 60_000;
/** After a failure, and the least between two looks. */
const RETRY_MS = 1_000;
/** How many members are looked at at the same time. */
const AT_ONCE = 16;

export interface Beat {
  readonly agent: string;
  /** reported: the coordinator has looked at everybody. failed: something kept it from working. */
  readonly state: "working" | "idle" | "waiting" | "reported" | "inactive" | "foreign" | "failed";
  readonly task?: TaskRef;
  readonly detail?: string;
}

export class Heart implements AsyncDisposable {
  readonly #parts: HeartParts;
  readonly #workers: Workers;
  /** When each member was last looked at. */
  readonly #looked = new Map<string, number>();
  readonly #failures = new Map<string, string>();
  readonly #loop: WakeLoop;
  /** Only woken: a task has ended, perhaps by a flag, and people are told now and not at the next heartbeat. */
  readonly #reporting: WakeLoop;
  #isKept = false;
  /** When we last made sure of it. */
  #keptMs = -Infinity;
  #isClosed = false;

  constructor(parts: HeartParts) {
    this.#parts = parts;
    this.#workers = new Workers({
      ...parts,
      isKept: () => this.#isStillKept(),
      onEnded: () => this.#reporting.wake(),
    });
    const onProblem = (error: unknown): void => parts.onProblem(error, COORDINATOR);
    this.#loop = new WakeLoop({
      round: () => this.#look(),
      pollMs: LOOK_MS,
      retryMs: RETRY_MS,
      onProblem,
    });
    this.#reporting = new WakeLoop({ round: () => this.#report(), pollMs: LOOK_MS, onProblem });
  }

  /** Goes on with what was under way, and beats from now on; where another Cortex does, as soon as that is gone. */
  async start(): Promise<void> {
    await this.#take().catch(() => undefined); // the first look tries again, and reports it
    this.#loop.start();
  }

  /** Sees who is due. */
  lookAgain(): void {
    this.#loop.wake();
  }

  /** A heartbeat now, of one member or of all. Throws `member_unknown`, `state_conflict` where another Cortex does that. */
  async tick(slug?: string): Promise<Beat[]> {
    const other = await this.#take();
    if (other !== undefined) throw keptByOther(other);
    const team = await this.#parts.readTeam();
    if (slug === undefined) return this.#beatAll(team.members);
    const member = findMember(team, slug);
    if (member === undefined) throw memberUnknown(slug);
    return this.#beatAll([member]);
  }

  /** Gives a member a task that an event has led to. Throws what `dispatchTask` throws. */
  async dispatch(wish: TaskWish, cause: EventId): Promise<DispatchedTask> {
    return this.#workers.dispatch(wish, { cause, team: await this.#parts.readTeam() });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    await this.#loop[Symbol.asyncDispose]();
    await this.#reporting[Symbol.asyncDispose]();
    await this.#workers[Symbol.asyncDispose]();
  }

  /** Gives who lets the team work, where that is another Cortex. */
  async #take(): Promise<Keeper | undefined> {
    const { keep, store, folder, readTeam, clock } = this.#parts;
    const other = await keep();
    if (other === undefined) this.#keptMs = clock();
    if (other !== undefined || this.#isKept) {
      this.#isKept = other === undefined;
      return other;
    }
    for (const { member, state } of await store.team.list(folder.root)) {
      const { tickMs } = readState(state);
      if (tickMs !== undefined) this.#looked.set(member, tickMs);
    }
    const coordinator = findMember(await readTeam(), COORDINATOR);
    if (coordinator !== undefined && isOurs(coordinator))
      await this.#workers.inLane(COORDINATOR, () => introduce(this.#parts));
    await this.#workers.recover();
    this.#isKept = true;
    return undefined;
  }

  /** A machine that was asleep finds out before it begins with anything. */
  async #isStillKept(): Promise<boolean> {
    const { keep, clock } = this.#parts;
    if (Math.abs(clock() - this.#keptMs) < LOOK_MS) return true;
    const isKept = (await keep()) === undefined;
    this.#keptMs = isKept ? clock() : -Infinity;
    return isKept;
  }

  async #look(): Promise<number> {
    const { clock, readTeam } = this.#parts;
    if ((await this.#take()) !== undefined) return this.#waitMs();
    const { members } = await readTeam();
    const nowMs = clock();
    const ours = new Set(members.filter(isOurs).map(({ slug }) => slug));
    for (const slug of this.#looked.keys()) if (!ours.has(slug)) this.#looked.delete(slug);
    const due = members.filter((member) => isOurs(member) && this.#dueMs(member) <= nowMs);
    await this.#beatAll(due);
    const isDue = due.some(({ isCoordinator }) => isCoordinator);
    const coordinator = members.find(({ isCoordinator }) => isCoordinator);
    if (!isDue && coordinator !== undefined && isOurs(coordinator)) await this.#coordinate(false);
    return this.#waitMs();
  }

  /** A clock that was set back keeps nobody from being looked at. */
  #dueMs({ slug }: Member): number {
    const { clock, heartbeatMinutes } = this.#parts;
    const lookedMs = this.#looked.get(slug);
    if (lookedMs === undefined || lookedMs > clock()) return 0;
    return lookedMs + heartbeatMinutes() * MINUTE_MS;
  }

  /** Workers first: what they have found is in what the coordinator tells. */
  async #beatAll(members: readonly Member[]): Promise<Beat[]> {
    const beats = new Map<string, Beat>();
    const workers = members.filter(({ isCoordinator }) => !isCoordinator);
    for (let at = 0; at < workers.length && !this.#isClosed; at += AT_ONCE) {
      const group = workers.slice(at, at + AT_ONCE);
      for (const beat of await Promise.all(group.map((member) => this.#beat(member))))
        beats.set(beat.agent, beat);
    }
    const coordinator = members.find(({ isCoordinator }) => isCoordinator);
    if (coordinator !== undefined && !this.#isClosed) beats.set(COORDINATOR, await this.#beat(coordinator));
    return members.flatMap(({ slug }) => beats.get(slug) ?? []);
  }

  async #beat(member: Member): Promise<Beat> {
    const { slug: agent, isCoordinator, isManaged, isInactive } = member;
    if (isInactive) return { agent, state: "inactive" };
    if (!isManaged) return { agent, state: "foreign", detail: whyForeign(agent, member.note) };
    this.#looked.set(agent, this.#parts.clock());
    try {
      const moved = await this.#workers.beat(agent);
      this.#failures.delete(agent);
      if (!isCoordinator) return { agent, ...moved };
      await this.#coordinate(true);
      return moved.state === "working" ? { agent, ...moved } : { agent, ...moved, state: "reported" };
    } catch (error) {
      const detail = error instanceof Error ? error.message : String(error);
      this.#failures.set(agent, detail);
      if (!this.#isClosed) this.#parts.onProblem(error, agent);
      return { agent, state: "failed", detail };
    }
  }

  async #coordinate(isTick: boolean): Promise<void> {
    const failures = new Map(this.#failures);
    const isLookedAfter = (slug: string): boolean => this.#looked.has(slug) && !failures.has(slug);
    await this.#workers.inLane(COORDINATOR, () =>
      coordinate({ isTick, isLookedAfter, failures }, this.#parts),
    );
  }

  async #report(): Promise<void> {
    if (!this.#isKept) return;
    const coordinator = findMember(await this.#parts.readTeam(), COORDINATOR);
    if (coordinator !== undefined && isOurs(coordinator) && !this.#isClosed) await this.#coordinate(false);
  }

  /** Until the next heartbeat or daily time. */
  #waitMs(): number {
    const { clock, heartbeatMinutes, times, timezone } = this.#parts;
    const nowMs = clock();
    const beatMs = Array.from(this.#looked.values(), (lookedMs) => lookedMs + heartbeatMinutes() * MINUTE_MS);
    const dailyMs = nextDailyMs(times(), { nowMs, timezone: timezone() });
    return Math.max(Math.min(...beatMs, dailyMs ?? Infinity) - nowMs, RETRY_MS);
  }
}

function isOurs({ isManaged, isInactive }: Member): boolean {
  return isManaged && !isInactive;
}

function keptByOther({ home, host, pid }: Keeper): CortexError {
  return new CortexError(
    "state_conflict",
    `Another Cortex lets this team work: ${home} on ${host}, process ${pid}`,
    {
      hint: "Ask that one for a tick, or stop it: this one then takes over within a minute.",
    },
  );
}

/**
 * The heartbeats of a team. Each is due a fixed time after the member's last one, so a restart or a sleeping machine neither
 * skips a heartbeat nor makes up for many.
 */
import { MINUTE_MS } from "../../model/durations.ts";
import { CortexError } from "../../model/errors.ts";
import { WakeLoop } from "../../model/wake-loop.ts";
import { coordinate, introduce } from "./coordinator.ts";
import { whyForeign } from "../files/adoption.ts";
import { dailyTimes, nextDailyMs } from "./daily.ts";
import type { DispatchedTask, TaskWish } from "../members/dispatch-task.ts";
import { type Keeper, keepTeam, type TeamKeeping } from "./keeper.ts";
import { memberUnknown } from "../members/member-files.ts";
import { readMemberState } from "./member-state.ts";
import type { TaskRef } from "../markdown/task.ts";
import { COORDINATOR, findMember, type TeamMember } from "../files/team.ts";
import type { Workplace } from "./workplace.ts";
import { type TaskOrigin, Workers } from "./worker.ts";

/** The longest pause between two rounds, because the clock and the settings may change. */
const LOOK_MS = 60_000;
/** After a failure, and the shortest pause between two rounds. */
const RETRY_MS = 1_000;
/** How many members are handled concurrently. */
const AT_ONCE = 16;

export interface Beat {
  readonly agent: string;
  /** reported: the coordinator has checked on all members. failed: an error kept the member from working. */
  readonly state: "working" | "idle" | "waiting" | "reported" | "inactive" | "foreign" | "failed";
  readonly task?: TaskRef;
  readonly detail?: string;
}

export class Heart implements AsyncDisposable {
  readonly #place: Workplace;
  readonly #keeping: TeamKeeping;
  readonly #workers: Workers;
  /** When each member last had a heartbeat. */
  readonly #looked = new Map<string, number>();
  readonly #failures = new Map<string, string>();
  readonly #loop: WakeLoop;
  /** Woken when a task ends, perhaps by a flag: people are told now, not at the next heartbeat. */
  readonly #reporting: WakeLoop;
  #isKept = false;
  /** When `#isKept` was last confirmed. */
  #keptMs = -Infinity;
  #isClosed = false;

  constructor(place: Workplace, keeping: TeamKeeping) {
    this.#place = place;
    this.#keeping = keeping;
    this.#workers = new Workers(place, {
      isKept: () => this.#isStillKept(),
      onEnded: () => this.#reporting.wake(),
    });
    const onProblem = (error: unknown): void => place.onProblem(error, COORDINATOR);
    this.#loop = new WakeLoop({
      round: () => this.#look(),
      pollMs: LOOK_MS,
      retryMs: RETRY_MS,
      onProblem,
    });
    this.#reporting = new WakeLoop({ round: () => this.#report(), pollMs: LOOK_MS, onProblem });
  }

  /** Resumes interrupted work and starts the heartbeats, once no other Cortex works on the team. */
  async start(): Promise<void> {
    await this.#take().catch(() => undefined); // the first round retries, and reports it
    this.#loop.start();
  }

  /** Checks now which members are due. */
  lookAgain(): void {
    this.#loop.wake();
  }

  /** A heartbeat now, of one member or of all. Throws `member_unknown`, and `state_conflict` if another Cortex works on the team. */
  async tick(slug?: string): Promise<Beat[]> {
    const other = await this.#take();
    if (other !== undefined) throw keptByOther(other);
    const team = await this.#place.team.read();
    if (slug === undefined) return this.#beatAll(team.members);
    const member = findMember(team, slug);
    if (member === undefined) throw memberUnknown(slug);
    return this.#beatAll([member]);
  }

  /** Gives a member a task of an agent. Throws what `dispatchTask` throws. */
  async dispatch(wish: TaskWish, origin: TaskOrigin): Promise<DispatchedTask> {
    return this.#workers.dispatch(wish, { ...origin, team: await this.#place.team.read() });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    await this.#loop[Symbol.asyncDispose]();
    await this.#reporting[Symbol.asyncDispose]();
    await this.#workers[Symbol.asyncDispose]();
  }

  /** Claims the team. Returns its keeper if that is another Cortex. */
  async #take(): Promise<Keeper | undefined> {
    const { store, team, clock } = this.#place;
    const other = await keepTeam(this.#keeping);
    if (other === undefined) this.#keptMs = clock();
    if (other !== undefined || this.#isKept) {
      this.#isKept = other === undefined;
      return other;
    }
    for (const { member, state } of await store.team.list(team.root)) {
      const { tickMs } = readMemberState(state);
      if (tickMs !== undefined) this.#looked.set(member, tickMs);
    }
    const coordinator = findMember(await team.read(), COORDINATOR);
    if (coordinator !== undefined && isOurs(coordinator))
      await this.#workers.inLane(COORDINATOR, () => introduce(this.#place));
    await this.#workers.recover();
    this.#isKept = true;
    return undefined;
  }

  /** A machine that was asleep finds out before it begins anything. */
  async #isStillKept(): Promise<boolean> {
    const { clock } = this.#place;
    if (Math.abs(clock() - this.#keptMs) < LOOK_MS) return true;
    const isKept = (await keepTeam(this.#keeping)) === undefined;
    this.#keptMs = isKept ? clock() : -Infinity;
    return isKept;
  }

  async #look(): Promise<number> {
    const { clock, team } = this.#place;
    if ((await this.#take()) !== undefined) return this.#waitMs();
    const { members } = await team.read();
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

  /** A member is due at once if the clock was set back. */
  #dueMs({ slug }: TeamMember): number {
    const { clock, team } = this.#place;
    const lookedMs = this.#looked.get(slug);
    if (lookedMs === undefined || lookedMs > clock()) return 0;
    return lookedMs + team.config.heartbeatMinutes * MINUTE_MS;
  }

  /** Workers first, so that the coordinator reports what they found. */
  async #beatAll(members: readonly TeamMember[]): Promise<Beat[]> {
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

  async #beat(member: TeamMember): Promise<Beat> {
    const { slug: agent, isCoordinator, isManaged, isInactive } = member;
    if (isInactive) return { agent, state: "inactive" };
    if (!isManaged) return { agent, state: "foreign", detail: whyForeign(agent, member.note) };
    this.#looked.set(agent, this.#place.clock());
    try {
      const moved = await this.#workers.beat(agent);
      this.#failures.delete(agent);
      if (!isCoordinator) return { agent, ...moved };
      await this.#coordinate(true);
      return moved.state === "working" ? { agent, ...moved } : { agent, ...moved, state: "reported" };
    } catch (error) {
      const detail = error instanceof Error ? error.message : String(error);
      this.#failures.set(agent, detail);
      if (!this.#isClosed) this.#place.onProblem(error, agent);
      return { agent, state: "failed", detail };
    }
  }

  async #coordinate(isTick: boolean): Promise<void> {
    const failures = new Map(this.#failures);
    const isLookedAfter = (slug: string): boolean => this.#looked.has(slug) && !failures.has(slug);
    await this.#workers.inLane(COORDINATOR, () =>
      coordinate({ isTick, isLookedAfter, failures }, this.#place),
    );
  }

  async #report(): Promise<void> {
    if (!this.#isKept) return;
    const coordinator = findMember(await this.#place.team.read(), COORDINATOR);
    if (coordinator !== undefined && isOurs(coordinator) && !this.#isClosed) await this.#coordinate(false);
  }

  /** Until the next heartbeat or daily time. */
  #waitMs(): number {
    const { config, timezone } = this.#place.team;
    const nowMs = this.#place.clock();
    const beatMs = Array.from(
      this.#looked.values(),
      (lookedMs) => lookedMs + config.heartbeatMinutes * MINUTE_MS,
    );
    const dailyMs = nextDailyMs(dailyTimes(config), { nowMs, timezone });
    return Math.max(Math.min(...beatMs, dailyMs ?? Infinity) - nowMs, RETRY_MS);
  }
}

function isOurs({ isManaged, isInactive }: TeamMember): boolean {
  return isManaged && !isInactive;
}

function keptByOther({ home, host, pid }: Keeper): CortexError {
  const message = `Another Cortex works on this team: ${home} on ${host}, process ${pid}`;
  return new CortexError("state_conflict", message, {
    hint: "Tick there, or stop it: this Cortex then takes over within a minute.",
  });
}

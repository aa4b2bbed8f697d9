/** A team as the rest of the runtime and its surfaces see it: look at it, give it work, let it work. */
import type { EventId } from "../model/ids.ts";
import type { Adopted } from "./members/adopt-member.ts";
import type { DispatchedTask, TaskWish } from "./members/dispatch-task.ts";
import type { BriefingFacts } from "./reports/briefing.ts";
import type { Beat } from "./work/heart.ts";
import type { Housekept } from "./reports/housekeeping.ts";
import type { NewMember, Registered } from "./members/register-member.ts";
import type { ReviewFacts } from "./reports/review.ts";
import type { Team } from "./files/team.ts";

/** What can be done with the files of a team alone, with a server or without. */
export interface TeamFiles {
  /** The team directory, absolute. */
  readonly root: string;
  /** All that the files say, as they are now. */
  status(): Promise<Team>;
  /**
   * Writes a task into the file of a member, with the status `ready`. `member_unknown`; `state_conflict` for one who has left;
   * `request_invalid` where the title is none.
   */
  dispatch(wish: TaskWish): Promise<DispatchedTask>;
  /** Makes a member Cortex's own. `member_unknown`, `state_conflict`. */
  adopt(agent: string): Promise<Adopted>;
  briefing(): Promise<TeamReport<BriefingFacts>>;
  review(): Promise<TeamReport<ReviewFacts>>;
  housekeeping(): Promise<Housekept>;
}

/** Facts, and the same in words, as Markdown. */
interface TeamReport<Facts> {
  readonly facts: Facts;
  readonly text: string;
}

/** A team at work: what is done with the files, and what Cortex does of its own accord. */
export interface Teamwork extends Omit<TeamFiles, "root" | "dispatch">, AsyncDisposable {
  /** As with files alone. The cause is the event that led to the task; without one, it begins a chain of events. */
  dispatch(wish: TaskWish, cause?: EventId): Promise<DispatchedTask>;
  /** The team directory, absolute, whether it is there or not. */
  root(): Promise<string>;
  /** Goes on with what the process before this one was at work on, and with the heartbeats. */
  start(): Promise<void>;
  /** Looks at the settings and the files now. */
  lookAgain(): void;
  /**
   * A heartbeat now, of one member or of all that Cortex manages. `team_missing` where there is no team directory,
   * `member_unknown`.
   */
  tick(agent?: string): Promise<TickReport>;
  /** How members, tasks and projects stand, in Markdown. Undefined: the files cannot be read now. */
  situation(): Promise<string | undefined>;
  /** Takes somebody into the team. `request_invalid`, `state_conflict`. */
  register(member: NewMember): Promise<Registered>;
}

export interface TickReport {
  readonly members: readonly Beat[];
}

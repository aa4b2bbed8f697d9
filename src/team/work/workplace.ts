/** What a team at work needs of the rest of Cortex. */
import type { AgentId, EventId, ItemId, PersonaId } from "../../model/ids.ts";
import type { Json } from "../../model/json.ts";
import type { Claim, LeaseRequest, Store } from "../../store/store.ts";
import type { TeamFolder } from "../files/team-folder.ts";

export interface WorkParts {
  readonly folder: TeamFolder;
  readonly store: Pick<Store, "team" | "queue" | "turns">;
  readonly clock: () => number;
  readonly mintId: () => string;
  readonly timezone: () => string;
  readonly heartbeatMinutes: () => number;
  /** The user's own folder, for paths that begin with `~`. */
  readonly user: string;
  /** Whether notes that do not say who runs them belong to Cortex. */
  readonly adopts: () => boolean;
  /** The folder of a member that has no project of its own. */
  readonly workspaceOf: (slug: string) => string;
  /** Who works for a member, in its project. */
  readonly agentFor: (
    slug: string,
    folder: string,
  ) => { readonly agent: AgentId; readonly persona: PersonaId };
  /** Does something that may bring a claim with it. */
  readonly withSlot: <Result>(
    act: (claim: LeaseRequest | undefined) => Promise<{ result: Result; claim: Claim | undefined }>,
  ) => Promise<Result>;
  /** Resolves when a message is settled, or the signal comes first. */
  readonly settled: (item: ItemId, signal: AbortSignal) => Promise<unknown>;
  readonly relays: TeamRelays;
  /** Whether it is still us who let the team work: another Cortex may have taken over from one that was asleep. */
  readonly isKept: () => Promise<boolean>;
  /** Told when a task has come to an end, be it good or not. */
  readonly onEnded: (slug: string) => void;
  readonly onProblem: (error: unknown, slug: string) => void;
}

/** Tasks with a template are run as relays. */
export interface TeamRelays {
  /** Starts it, or finds what the same key has started before. Throws `template_unknown`. */
  run(wish: RelayWish): Promise<string>;
  /** Undefined: the signal came first. */
  ended(relay: string, signal: AbortSignal): Promise<RelayEnd | undefined>;
}

interface RelayWish {
  readonly key: string;
  readonly template: string;
  readonly message: string;
  readonly folder: string;
  readonly persona: PersonaId;
  /** What its steps may do at most. */
  readonly permissions: Json;
  /** Folders that stay closed to them. */
  readonly hidden: readonly string[];
  readonly metadata: { readonly [field: string]: Json };
  /** The event that led to the task. */
  readonly cause?: EventId;
}

interface RelayEnd {
  readonly isDone: boolean;
  /** What came of it, or why nothing did. */
  readonly text: string;
  readonly atMs: number;
}

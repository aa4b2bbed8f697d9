import type { Settings } from "../../config/settings.ts";
import type { Apis } from "../../feature/cortex.ts";
import type { Outcomes } from "../../feature/outcomes.ts";
import type { Ports } from "../../feature/ports.ts";
import type { Store } from "../../store/store.ts";
import type { TeamLabels } from "../files/team-labels.ts";
import type { TeamDirectory } from "../files/team-directory.ts";

/** A team directory, and the Cortex that works on it. */
export interface Workplace extends Pick<
  Ports,
  "home" | "environment" | "clock" | "mintId" | "slots" | "log"
> {
  readonly team: TeamDirectory;
  /** Whose words its files hold. */
  readonly labels: TeamLabels;
  readonly store: Pick<Store, "team" | "queue" | "turns" | "events" | "sessions" | "outbox" | "relays">;
  readonly settings: Pick<Settings, "config">;
  readonly outcomes: Pick<Outcomes, "wait">;
  readonly apis: Pick<Apis, "relays">;
  /** Aborts when the team is closed. */
  readonly closing: AbortSignal;
  /** Reports a failure that keeps a member from working. It is retried. */
  readonly onProblem: (error: unknown, slug: string) => void;
}

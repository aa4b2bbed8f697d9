/** What relays need of the rest of Cortex. */
import type { AgentId, DeliveryId, PersonaId, RelayId } from "../../model/ids.ts";
import type { Json } from "../../model/json.ts";
import type { Claim, LeaseRequest, NewDelivery, Store } from "../../store/store.ts";
import type { RunProgram } from "../scripts/script.ts";
import type { RelayScripts } from "../templates/snapshot.ts";

export interface EngineParts {
  readonly store: Store;
  readonly home: string;
  readonly clock: () => number;
  readonly mintId: () => string;
  /** A moment as ISO 8601 with the offset of where the owner lives. */
  readonly localTime: (ms: number) => string;
  /** Who runs the step of an agent that a relay names. */
  readonly agentFor: (
    name: string,
    given: { readonly startedBy: PersonaId | undefined; readonly folder: string },
  ) => { readonly agent: AgentId; readonly persona: PersonaId };
  readonly run: RunProgram;
  /** Those that the caller of a relay gave. They are not kept: after a restart there are none. */
  readonly extraScripts: (id: RelayId) => RelayScripts | undefined;
  /** Told when a relay has ended. */
  readonly onEnded: (id: RelayId) => void;
  /** What all relays may spend in a day. Undefined: as much as they like. */
  readonly usdPerDay: () => number | undefined;
  readonly dayStartMs: () => number;
  /** What a text becomes that people are told. */
  readonly deliver: (delivery: Json, text: string) => readonly Notice[];
  /** Does something that may bring a claim with it. */
  readonly withSlot: <Result>(
    act: (claim: LeaseRequest | undefined) => Promise<{ result: Result; claim: Claim | undefined }>,
  ) => Promise<Result>;
  readonly onProblem: (error: unknown, id: RelayId | undefined) => void;
  readonly pollMs?: number;
  readonly retryMs?: number;
}

type Notice = NewDelivery & { readonly id: DeliveryId; readonly content: string };

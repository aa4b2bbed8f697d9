/** A step as a message to a session: who runs it, with what, and what it may spend and do. */
import { eventId, RELAY_ADAPTER } from "../../model/event.ts";
import type { DispatchId, ItemId } from "../../model/ids.ts";
import type { Json } from "../../model/json.ts";
import { ACTIVE_PROFILE } from "../../model/profile.ts";
import type { SessionKey } from "../../model/session-key.ts";
import type { Worker } from "../../model/worker.ts";
import { present } from "../../model/present.ts";
import type { RelayStepOrder } from "../../store/store.ts";
import type { EngineParts } from "./engine-parts.ts";
import type { RelayDetail } from "../record/kept-relay.ts";
import type { RelayRecord } from "../record/record.ts";
import type { RelayAgent } from "../templates/snapshot.ts";
import { ABORT_TOOL } from "../record/step-end.ts";

/** The name of the hook that stands for a relay. */
export const RELAY_HOOK = "relay";

export interface Asked {
  readonly step: number;
  readonly slot: string;
  readonly stage: string | null;
  readonly session: SessionKey;
  readonly agent: RelayAgent;
  readonly systemPrompt?: string | undefined;
  readonly prompt: string;
  readonly maxCostUsd: number | undefined;
}

export function orderStep(
  asked: Asked,
  { record, detail }: { readonly record: RelayRecord; readonly detail: RelayDetail },
  { agentFor, clock, mintId }: Pick<EngineParts, "agentFor" | "clock" | "mintId">,
): RelayStepOrder {
  const { step, slot, stage, session, prompt } = asked;
  const folder = detail.dir ?? record.workspacePath;
  const worker = workerOf(asked, record, { ...detail, workspace: folder });
  return {
    event: {
      id: eventId(RELAY_ADAPTER, { kind: "id", sourceId: `${record.id}:${step}` }),
      channel: RELAY_ADAPTER,
      direction: "sent",
      sender: record.id,
      content: prompt,
      metadata: { relay: record.id, step, slot, stage },
      ...(detail.cause === undefined ? {} : { cause: detail.cause }),
      atMs: clock(),
    },
    dispatch: {
      id: mintId() as DispatchId,
      item: mintId() as ItemId,
      hook: RELAY_HOOK,
      target: {
        kind: "session",
        session,
        ...agentFor(asked.agent.name, { startedBy: detail.persona, folder }),
      },
      mode: "followup",
      ...(detail.permissions === undefined ? {} : { permissions: withFolder(detail.permissions, record) }),
    },
    worker: worker as unknown as Json,
    trust: toldBy(record, detail),
  };
}

function workerOf(
  { agent, systemPrompt, maxCostUsd }: Asked,
  { metadata, workspacePath }: RelayRecord,
  { workspace, hidden, delivery }: RelayDetail & { readonly workspace: string },
): Worker {
  const { tools, pluginDirs } = agent;
  const profile = agent.profile === ACTIVE_PROFILE ? metadata?.profileOverride : agent.profile;
  return {
    permissions: tools === undefined ? {} : { tools: { allow: [[...tools, ABORT_TOOL]] } },
    workspace,
    ...(workspacePath === "" ? {} : { roots: [workspacePath] }), // the artifact is there
    ...present({ hidden, asks: delivery }),
    ...(pluginDirs.length === 0 ? {} : { pluginDirs }),
    ...present({ profile, systemPrompt, costUsd: maxCostUsd }),
  };
}

/** However few folders whoever started the relay may use: its own, where the artifact is, belongs to its steps. */
function withFolder(permissions: Json, { workspacePath }: RelayRecord): Json {
  const { roots } = (permissions ?? {}) as { readonly roots?: readonly string[] };
  if (roots === undefined || workspacePath === "") return permissions;
  return { ...(permissions as object), roots: [...roots, workspacePath] };
}

/** The sessions whose results the step is given: what they came into contact with, it does too. */
function toldBy({ steps, leg }: RelayRecord, { session }: RelayDetail): SessionKey[] {
  const before = steps.filter((step) => step.kind !== "script" && (step.leg === null || step.leg >= leg - 1));
  const sessions = [session, ...before.map(({ sessionId }) => sessionId as SessionKey | null)];
  return [...new Set(sessions.filter((key) => key !== undefined && key !== null))];
}

/** Messages from relays to sessions: requests for steps, and the final message to the starter. */
import { RELAY_ADAPTER } from "../../model/event.ts";
import { eventId } from "../../model/event-id.ts";
import { dispatchIds } from "../../model/ids.ts";
import { isJsonObject, type Json } from "../../model/json.ts";
import { present } from "../../model/present.ts";
import { ACTIVE_PROFILE } from "../../model/profile.ts";
import type { SessionKey } from "../../model/session-key.ts";
import { isUnlabelled, joinLabels, type Label } from "../../model/trust.ts";
import type { Worker } from "../../model/worker.ts";
import { agentFor } from "../../personas/lookup.ts";
import type { EnginePorts } from "./engine-ports.ts";
import type { KeptRelay, RelayDetail } from "../record/kept-relay.ts";
import type { RelayRecord } from "../record/record.ts";
import { ABORT_TOOL } from "./record-ends.ts";
import { labelOfMessage, labelOfRelay, sessionsIn } from "./relay-label.ts";
import type { RelayAgent } from "../templates/snapshot.ts";
import type { RelayChange, RelayStepOrder } from "../../store/store.ts";

/** The hook name in dispatches of relays. */
const RELAY_HOOK = "relay";

interface StepRequest {
  readonly step: number;
  readonly slot: string;
  readonly stage: string | null;
  readonly session: SessionKey;
  readonly agent: RelayAgent;
  readonly systemPrompt?: string | undefined;
  readonly prompt: string;
  /** Of what the prompt tells beside the message that started the relay. */
  readonly label: Label;
  readonly maxCostUsd: number | undefined;
}

export function orderStep(
  request: StepRequest,
  { record, detail }: { readonly record: RelayRecord; readonly detail: RelayDetail },
  { settings, clock, mintId }: Pick<EnginePorts, "settings" | "clock" | "mintId">,
): RelayStepOrder {
  const { step, slot, stage, session, prompt, label } = request;
  const folder = detail.dir ?? record.workspacePath;
  const runner = agentFor(settings.config(), request.agent.name, { startedBy: detail.persona, folder });
  const worker = workerOf(request, record, { ...detail, workspace: folder });
  return {
    event: {
      id: eventId(RELAY_ADAPTER, { kind: "id", sourceId: `${record.id}:${step}` }),
      channel: RELAY_ADAPTER,
      direction: "sent",
      sender: record.id,
      content: prompt,
      metadata: { relay: record.id, step, slot, stage },
      ...present({ cause: detail.cause, principal: detail.principal, audience: detail.audience }),
      ...labelled(joinLabels(labelOfMessage(detail), label)),
      atMs: clock(),
    },
    dispatch: {
      ...dispatchIds(mintId),
      hook: RELAY_HOOK,
      target: { kind: "session", session, agent: runner.id, persona: runner.personaId },
      mode: "followup",
      ...(detail.permissions === undefined ? {} : { permissions: withFolder(detail.permissions, record) }),
    },
    worker: { ...worker },
    trust: sessionsIn(record, detail),
  };
}

function labelled(label: Label): { readonly label?: Label } {
  return isUnlabelled(label) ? {} : { label };
}

function workerOf(
  { agent, systemPrompt, maxCostUsd }: StepRequest,
  { metadata, workspacePath }: RelayRecord,
  { workspace, hidden, delivery }: RelayDetail & { readonly workspace: string },
): Worker {
  const { tools, pluginDirs } = agent;
  const profile = agent.profile === ACTIVE_PROFILE ? metadata?.profileOverride : agent.profile;
  return {
    permissions: tools === undefined ? {} : { tools: { allow: [[...tools, ABORT_TOOL]] } },
    workspace,
    ...(workspacePath === "" ? {} : { roots: [workspacePath] }), // for the artifact
    ...present({ hidden, asks: delivery }),
    ...(pluginDirs.length === 0 ? {} : { pluginDirs }),
    ...present({ profile, systemPrompt, costUsd: maxCostUsd }),
  };
}

/** Steps can always use the relay's own folder, which contains the artifact, even if the starter cannot. */
function withFolder(permissions: Json, { workspacePath }: RelayRecord): Json {
  if (!isJsonObject(permissions) || !Array.isArray(permissions["roots"]) || workspacePath === "")
    return permissions;
  return { ...permissions, roots: [...permissions["roots"], workspacePath] };
}

/** Undefined: no message is wanted. The version makes the id unique, because a resumed relay can end again. */
export async function endMessage(
  { id, version, record, detail, rows }: Pick<KeptRelay, "id" | "version" | "record" | "detail" | "rows">,
  content: string,
  { store, clock, mintId }: Pick<EnginePorts, "store" | "clock" | "mintId">,
): Promise<RelayChange["tell"]> {
  if (detail.tells !== true || detail.session === undefined) return undefined;
  const session = await store.sessions.get(detail.session);
  if (session === undefined) return undefined;
  const from = rows.findLast((row) => row.session !== undefined)?.session;
  const { key, agent, persona } = session;
  return {
    event: {
      id: eventId(RELAY_ADAPTER, { kind: "id", sourceId: `${id}:end:${version}` }),
      channel: RELAY_ADAPTER,
      direction: "sent",
      sender: id,
      content,
      metadata: { relay: id },
      ...(detail.cause === undefined ? {} : { cause: detail.cause, returns: true }),
      ...present({ audience: detail.audience }),
      ...labelled(await labelOfRelay(record, detail, store)), // of steps that ran side by side, each
      atMs: clock(),
    },
    dispatch: {
      ...dispatchIds(mintId),
      hook: RELAY_HOOK,
      target: { kind: "session", session: key, agent, persona },
      mode: "followup",
      ...present({ permissions: detail.permissions, delivery: detail.delivery }),
      ...present({ from }), // passes on the labels of the last step
    },
  };
}

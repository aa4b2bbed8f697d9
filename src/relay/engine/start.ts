/** From what somebody asks for to a relay that can be kept: its snapshot, its first record, and what is known beside it. */
import { createHash } from "node:crypto";
import { statSync } from "node:fs";
import { isAbsolute } from "node:path";

import type { Ports } from "../../feature/ports.ts";
import { CortexError } from "../../model/errors.ts";
import type { AgentId, RelayId } from "../../model/ids.ts";
import { canonicalJson, type Json } from "../../model/json.ts";
import { ACTIVE_PROFILE } from "../../model/profile.ts";
import { present } from "../../model/present.ts";
import { resolveStage } from "../templates/endpoint.ts";
import { makeWorkspace } from "../artifact/artifact.ts";
import { detailOf, type RelayDetail, toRecord, toStored } from "../record/kept-relay.ts";
import { type NewRecord, newRecord, newRelayId } from "../record/new-record.ts";
import type { RelayRecord } from "../record/record.ts";
import { problemsHint } from "../templates/reload-texts.ts";
import { bindActive } from "../templates/resolve.ts";
import {
  type RelayAgent,
  type RelayConfig,
  type SnapshotContent,
  takeSnapshot,
} from "../templates/snapshot.ts";
import type { NewRelay, StoredRelay } from "../../store/store.ts";
import { isStartedWith, relayIdOf } from "../record/keys.ts";
import type { RelayRequest } from "../relays.ts";

/** How many ids are drawn before one gives up: each is taken with a chance of one in thousands at most. */
const MAX_DRAWS = 20;

/** `onId` is told the id before the relay can begin. */
export async function startRelay(
  request: RelayRequest,
  content: SnapshotContent,
  { store, home, clock }: Pick<Ports, "store" | "home" | "clock">,
  onId?: (id: RelayId) => void,
): Promise<RelayRecord> {
  const { idempotencyKey: key } = request;
  for (let draw = 0; draw < MAX_DRAWS; draw++) {
    const id = key === undefined ? newRelayId() : relayIdOf(key, draw);
    const there = await store.relays.get(id);
    if (there === undefined) {
      // A workspace that nobody uses is left where the process dies here; the same key uses it again.
      const workspace = await makeWorkspace(home, id);
      const record = recordOf(request, content, { id, workspace, nowMs: clock() });
      onId?.(id);
      const { fresh } = await store.relays.create(keep(request, content, record));
      if (fresh) return record;
    }
    const taken = there ?? (await store.relays.get(id))!;
    if (key !== undefined && isStartedWith(key, taken)) return repeated(taken, request, content);
  }
  throw new CortexError("internal", `No id is free for a relay after ${MAX_DRAWS} draws`, {
    hint: "Try again.",
  });
}

/** A key that was used before stands for the relay that it was used for. */
function repeated(taken: StoredRelay, request: RelayRequest, content: SnapshotContent): RelayRecord {
  const { asked } = detailOf(taken);
  if (asked === undefined || asked === digestOf(request, content)) return toRecord(taken, []);
  throw new CortexError("idempotency_conflict", `Relay ${taken.id} was started with this key before`, {
    hint: "Use a new idempotencyKey for another message, template or agent.",
  });
}

function digestOf({ message }: RelayRequest, { template, added }: SnapshotContent): string {
  const asked = [template?.name ?? null, added[0]?.name ?? null, message];
  return createHash("sha256").update(canonicalJson(asked)).digest("hex");
}

/** Refuses a place to work in that is none, while a mistake costs nothing yet. */
export function checkFolder(path: string): void {
  if (isAbsolute(path) && statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) return;
  throw new CortexError("request_invalid", `"${path.slice(0, 200).toWellFormed()}" is not a folder`, {
    hint: "Name the absolute path of a folder that is there.",
  });
}

function recordOf(
  request: RelayRequest,
  content: SnapshotContent,
  { id, workspace, nowMs }: Required<Pick<NewRecord, "workspace" | "nowMs">> & { readonly id: RelayId },
): RelayRecord {
  const { template, added } = content;
  const [agent] = added;
  const { profile, metadata = {}, message } = request;
  const given = { ...metadata, ...(profile === undefined ? {} : { profileOverride: profile }) };
  return newRecord({
    id,
    templateName: template?.name ?? null,
    configHash: takeSnapshot(content).hash,
    slots: [...(template?.agents ?? []), ...added].map(slotOf),
    entry:
      template === undefined
        ? { agent: agent!.name, stage: resolveStage(agent!, null) }
        : { agent: template.entryAgent, stage: template.entryStage ?? null },
    channel: channelOf(request),
    userMessage: message,
    workspace,
    ...(Object.keys(given).length === 0 ? {} : { metadata: given }),
    nowMs,
  });
}

export function slotOf({ name: slotId, profile, persistSession }: RelayAgent) {
  return { slotId, profile, persistSession };
}

function channelOf({ channel, delivery }: RelayRequest): string {
  const named = (delivery as { readonly channel?: Json } | null | undefined)?.channel;
  return channel ?? (typeof named === "string" ? named : "cli");
}

function keep(request: RelayRequest, content: SnapshotContent, record: RelayRecord): NewRelay {
  const {
    dir,
    delivery,
    budgetUsd,
    idempotencyKey,
    permissions,
    hidden,
    resumes,
    cause,
    startedBy = {},
  } = request;
  const { session, persona, turn, ordinal } = startedBy;
  const waits = session !== undefined && turn !== undefined && ordinal !== undefined;
  const detail: RelayDetail = {
    ...present({ dir, session, persona, permissions, hidden, resumes, delivery, cause, budgetUsd }),
    ...(idempotencyKey === undefined ? {} : { idempotencyKey, asked: digestOf(request, content) }),
    ...(session !== undefined && turn !== undefined && !waits ? { tells: true } : {}),
  };
  return {
    id: record.id,
    template: record.templateName,
    state: record.status,
    record: toStored(record),
    detail: { ...detail },
    config: takeSnapshot(content),
    channel: record.channel,
    ...(waits ? { caller: { session, turn, ordinal } } : {}),
  };
}

/** The template, else the agent, that a request names, as it is now. `template_unknown`. */
export function contentFor(
  { name, kind }: Pick<RelayRequest, "name" | "kind">,
  config: RelayConfig,
  active: RelayAgent,
): SnapshotContent {
  const { templates, agents } = config;
  const template = kind === "agent" ? undefined : templates.get(name);
  if (template !== undefined) return { template: bindActive(template, active), added: [] };
  const agent = kind === "template" ? undefined : agents.get(name);
  if (agent !== undefined) return { added: [agent] };
  const shown = name.slice(0, 80).toWellFormed();
  throw new CortexError("template_unknown", `No template and no agent of relays is called "${shown}"`, {
    hint: `\`cortex relay templates\` and \`cortex relay agents\` list those there are.${problemsHint(config)}`,
  });
}

/** Whom `__active__` means: an agent of relays with the name of the one that runs the session, else that one itself. */
export function activeAgent(name: AgentId, { agents }: RelayConfig): RelayAgent {
  return (
    agents.get(name) ?? {
      name,
      description: "",
      profile: ACTIVE_PROFILE,
      persistSession: false,
      pluginDirs: [],
    }
  );
}

export function agentUnknown(name: string, config: RelayConfig): CortexError {
  const { agents } = config;
  return new CortexError(
    "agent_unknown",
    `No agent of relays is called "${name.slice(0, 80).toWellFormed()}"`,
    {
      hint:
        agents.size === 0
          ? "There are none yet: `cortex relay validate` says what was read."
          : `The agents are ${[...agents.keys()].join(", ")}.${problemsHint(config)}`,
    },
  );
}

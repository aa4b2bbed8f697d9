/** Starts relays: takes the snapshot, makes the first record, and stores both. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { statSync } from "node:fs";
import { realpath } from "node:fs/promises";
import { isAbsolute } from "node:path";

import { readTeamConfig } from "../../config/team-config.ts";

import type { Ports } from "../../feature/ports.ts";
import { CortexError } from "../../model/errors.ts";
import type { AgentId, RelayId } from "../../model/ids.ts";
import { canonicalJson, isJsonObject } from "../../model/json.ts";
import { present } from "../../model/present.ts";
import { isUnlabelled, labelJson, NO_LABEL } from "../../model/trust.ts";
import { type Endpoint, resolveStage } from "../templates/endpoint.ts";
import { makeWorkspace } from "../artifact/artifact.ts";
import { relayDetail, type RelayDetail, toNewRelay, toRecord } from "../record/kept-relay.ts";
import { type NewRecord, newRecord, type NewSlot } from "../record/new-record.ts";
import type { RelayRecord } from "../record/record.ts";
import { problemsHint } from "../templates/reload-texts.ts";
import { bindActive, plainAgent } from "../templates/resolve.ts";
import {
  type RelayAgent,
  type RelayConfig,
  type SnapshotContent,
  takeSnapshot,
} from "../templates/snapshot.ts";
import { unfitForWork } from "../../personas/work-folder.ts";
import { keptKey } from "../../store/kept-id.ts";
import type { NewRelay, StoredRelay } from "../../store/store.ts";
import { isStartedWith, newRelayId, relayIdOf } from "../record/keys.ts";
import type { RelayRequest } from "../relays.ts";

/** How many ids are tried. Each is taken with a probability below one in a thousand. */
const MAX_DRAWS = 20;

/** Calls `onId` before the relay can begin. */
export async function startRelay(
  request: RelayRequest,
  content: SnapshotContent,
  { store, home, clock }: Pick<Ports, "store" | "home" | "clock">,
  onId?: (id: RelayId) => void,
): Promise<RelayRecord> {
  const key = request.idempotencyKey === undefined ? undefined : keptKey(request.idempotencyKey, store);
  for (let draw = 0; draw < MAX_DRAWS; draw++) {
    const id = key === undefined ? newRelayId() : relayIdOf(key, draw);
    const existing = await store.relays.get(id);
    if (existing === undefined) {
      // If the process dies here, an unused workspace stays behind; the same key uses it again.
      const workspace = await makeWorkspace(home, id);
      const record = recordOf(request, content, { id, workspace, nowMs: clock() });
      onId?.(id);
      const { fresh } = await store.relays.create(
        keep({ ...request, ...present({ idempotencyKey: key }) }, content, record),
      );
      if (fresh) return record;
    }
    const taken = existing ?? (await store.relays.get(id));
    if (taken !== undefined && key !== undefined && isStartedWith(key, taken))
      return repeated(taken, request, content);
  }
  throw new CortexError("internal", `No free relay id after ${MAX_DRAWS} attempts`, {
    hint: "Try again.",
  });
}

/** A reused key returns the relay it was first used for. */
function repeated(taken: StoredRelay, request: RelayRequest, content: SnapshotContent): RelayRecord {
  const { asked } = relayDetail(taken);
  if (asked === undefined || asked === digestOf(request, content)) return toRecord(taken, []);
  throw new CortexError(
    "idempotency_conflict",
    `The idempotency key was already used to start relay ${taken.id} with a different request`,
    {
      hint: "Use a new idempotencyKey for another message, template or agent.",
    },
  );
}

function digestOf({ message }: RelayRequest, { template, added }: SnapshotContent): string {
  const asked = [template?.name ?? null, added[0]?.name ?? null, message];
  return createHash("sha256").update(canonicalJson(asked)).digest("hex");
}

/** The working folder, without links. Rejects an invalid one before anything is stored. */
export async function findFolder(
  path: string,
  { home, environment, flags, settings }: Pick<Ports, "home" | "environment" | "flags" | "settings">,
): Promise<string> {
  const shown = path.slice(0, 200).toWellFormed();
  if (!isAbsolute(path) || statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true)
    throw new CortexError("request_invalid", `"${shown}" is not a folder`, {
      hint: "Use the absolute path of an existing folder.",
    });
  const folder = await realpath(path);
  const { agents } = settings.config();
  if ((await unfitForWork(folder, { home, agents })) === undefined) return folder;
  const { teamDir: team } = await readTeamConfig({ home, environment, flags, workingDir: process.cwd() });
  const unfit = await unfitForWork(folder, { home, agents, team });
  if (unfit === undefined) return folder;
  throw new CortexError("request_invalid", `The folder "${shown}" ${unfit}`, {
    hint: "Use a folder outside the home, or one in its folder workspaces.",
  });
}

function recordOf(
  request: RelayRequest,
  content: SnapshotContent,
  { id, workspace, nowMs }: Required<Pick<NewRecord, "workspace" | "nowMs">> & { readonly id: RelayId },
): RelayRecord {
  const { template, added } = content;
  const { profile, metadata = {}, message } = request;
  const given = { ...metadata, ...(profile === undefined ? {} : { profileOverride: profile }) };
  return newRecord({
    id,
    templateName: template?.name ?? null,
    configHash: takeSnapshot(content).hash,
    slots: [...(template?.agents ?? []), ...added].map(slotOf),
    entry: entryOf(content),
    channel: channelOf(request),
    userMessage: message,
    workspace,
    ...(Object.keys(given).length === 0 ? {} : { metadata: given }),
    nowMs,
  });
}

function entryOf({ template, added: [agent] }: SnapshotContent): Endpoint {
  if (template !== undefined) return { agent: template.entryAgent, stage: template.entryStage ?? null };
  assert(agent !== undefined, "a relay without a template has an agent");
  return { agent: agent.name, stage: resolveStage(agent, null) };
}

export function slotOf({ name: slotId, profile, persistSession }: RelayAgent): NewSlot {
  return { slotId, profile, persistSession };
}

function channelOf({ channel, delivery }: RelayRequest): string {
  const named = isJsonObject(delivery) ? delivery["channel"] : undefined;
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
    principal,
    audience,
    label = NO_LABEL,
    startedBy = {},
  } = request;
  const { session, persona, turn, ordinal } = startedBy;
  const waits = session !== undefined && turn !== undefined && ordinal !== undefined;
  const detail: RelayDetail = {
    ...present({
      dir,
      session,
      persona,
      permissions,
      hidden,
      resumes,
      delivery,
      cause,
      principal,
      audience,
      budgetUsd,
    }),
    ...(isUnlabelled(label) ? {} : { label: labelJson(label) }),
    ...(idempotencyKey === undefined ? {} : { idempotencyKey, asked: digestOf(request, content) }),
    ...(session !== undefined && turn !== undefined && !waits ? { tells: true } : {}),
  };
  return {
    ...toNewRelay(record),
    detail: { ...detail },
    config: takeSnapshot(content),
    ...(waits ? { caller: { session, turn, ordinal } } : {}),
  };
}

/** The template, else the agent, that a request names. `template_unknown`. */
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
  throw new CortexError("template_unknown", `Unknown relay template or agent "${shown}"`, {
    hint: `\`cortex relay templates\` and \`cortex relay agents\` list them.${problemsHint(config)}`,
  });
}

/** The agent for `__active__`: the relay agent with the name of the session's agent, else that agent itself. */
export function activeAgent(name: AgentId, { agents }: RelayConfig): RelayAgent {
  return agents.get(name) ?? plainAgent(name);
}

export function agentUnknown(name: string, config: RelayConfig): CortexError {
  const { agents } = config;
  return new CortexError("agent_unknown", `Unknown relay agent "${name.slice(0, 80).toWellFormed()}"`, {
    hint:
      agents.size === 0
        ? "No agents are configured; run `cortex relay validate`."
        : `Available: ${[...agents.keys()].join(", ")}.${problemsHint(config)}`,
  });
}

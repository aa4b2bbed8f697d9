/**
 * Who runs the turns of a session and what they may do: the session's agent and persona, changed by what the session was
 * given as a worker's, narrowed by what every message of the turn allows. Also the folders and the environment of the
 * agent's tools.
 */
import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";

import type { Config } from "../config/config.ts";
import { authorOf, isOutside, readersOf } from "../model/audience.ts";
import { reservedFolders, toolOutputPath } from "../config/home.ts";
import { CortexError } from "../model/errors.ts";
import type { AgentId, PersonaId, TurnId } from "../model/ids.ts";
import { isJsonObject, type Json } from "../model/json.ts";
import type { LabelOrigin } from "../model/label-origin.ts";
import { agentPrincipal, isOwner } from "../model/principal.ts";
import { requireOwnFolder } from "../model/private-file.ts";
import type { SessionKey } from "../model/session-key.ts";
import { stampOf } from "../model/stamp.ts";
import {
  addedTrust,
  isUnlabelled,
  joinLabels,
  joinTrust,
  type Label,
  LABEL_SETS,
  NO_LABEL,
  NO_TRUST,
  readTrust,
  type Trust,
  TRUST_SETTING,
  trustJson,
} from "../model/trust.ts";
import type { Worker } from "../model/worker.ts";
import { FOREIGN } from "../personas/file-labels.ts";
import { agentFor, lookUp, type Setup } from "../personas/lookup.ts";
import { deniedTools, narrowingByDenied } from "../personas/permissions.ts";
import { childEnvironment, type NamedVariables, type Variables } from "../programs/environment.ts";
import type { DispatchInput, QueueItem, Store } from "../store/store.ts";
import type { TurnFolders } from "./turn-ports.ts";

/** The agent and persona of a session. A worker that works in a folder of its own need not be configured. */
export function setupOf(
  config: Config,
  { agent, persona }: { readonly agent: AgentId; readonly persona: PersonaId },
  worker: Worker | undefined,
): Setup {
  if (worker?.workspace === undefined) return lookUp(config, agent, persona);
  const { workspace, roots = [], tools = [] } = worker;
  const setup = agentFor(config, agent, { startedBy: persona, folder: workspace });
  const { permissions } = setup.persona;
  const open = [...new Set([...permissions.roots, ...roots])];
  const allowed = { ...permissions.tools, allow: [...permissions.tools.allow, ...tools] };
  return {
    ...setup,
    agent: { ...setup.agent, workspace, tools: [...setup.agent.tools, ...tools] },
    persona: { ...setup.persona, permissions: { ...permissions, roots: open, tools: allowed } },
  };
}

/** The agent as a worker, within the limits it was given. */
export function asWorker(setup: Setup, worker: Worker | undefined): Setup {
  if (worker === undefined) return setup;
  const { limits, pluginDirs } = setup.agent;
  const { maxTurns = Infinity, costUsd = Infinity, systemPrompt, role = "worker" } = worker;
  return {
    ...setup,
    agent: {
      ...setup.agent,
      role,
      ...(role === "worker" ? { memory: false } : {}), // its task holds what it needs
      limits: {
        ...limits,
        modelCalls: Math.min(limits.modelCalls, maxTurns),
        costUsd: Math.min(limits.costUsd, costUsd),
      },
      pluginDirs: worker.pluginDirs ?? pluginDirs,
      ...(systemPrompt === undefined ? {} : { systemPrompt }),
    },
  };
}

/** Whether the session has a tool, permissions aside: reserved tools are for workers that were given them. */
export function hasTool(
  worker: Worker | undefined,
  { name, isReserved }: { readonly name: string; readonly isReserved?: true | undefined },
): boolean {
  return isReserved !== true || worker?.tools?.includes(name) === true;
}

/** What a worker may do at most, whoever writes to it. */
export function narrowedAs(worker: Worker | undefined): Json[] {
  return worker === undefined ? [] : [worker.permissions];
}

/** What the messages of a turn allow: each narrows the permissions of the turn. */
export function narrowedBy(items: readonly QueueItem[]): Json[] {
  return items.flatMap(({ event, dispatches }) => [...dispatches.flatMap(allowedBy), ...deniedTo(event)]);
}

/**
 * What the author of its content may not use: a file in a watched folder can be of a person with fewer rights. A message
 * from an agent has permissions of its own, and the label of all that its session has read.
 */
function deniedTo(event: QueueItem["event"]): Json[] {
  const { principal, label = NO_LABEL } = event;
  if (isOwner(principal) || stampOf(event) !== undefined) return [];
  const narrowing = narrowingByDenied(label.denied);
  return narrowing === undefined ? [] : [narrowing];
}

/** In a list, because permissions that are themselves a list, or null, narrow too. */
function allowedBy({ permissions }: DispatchInput): Json[] {
  return permissions === undefined ? [] : [permissions];
}

/** Whether anyone but the owner wrote any of the messages. A message is the owner's only if it says so. */
export function isByOthers(items: readonly QueueItem[]): boolean {
  return items.some((item) => ofOthers(item).length > 0);
}

/** Whether other people wrote any of the messages, or the text that a program sent on their behalf. */
export function isByPeople(items: readonly QueueItem[]): boolean {
  return items.some((item) => isByOthers([item]) && labelOfMessage(item).untrusted.some(isOutside));
}

function ofOthers(item: QueueItem): Json[] {
  return narrowedBy([item]).filter((permissions) => authorityIn(permissions) !== "owner");
}

/** What the words of a message bring into a session. */
function labelOfMessage(item: QueueItem): Label {
  const { principal, sender = "unknown", label = NO_LABEL } = item.event;
  const others = ofOthers(item);
  const added = joinLabels(label, labelOfAdded(item), { ...NO_LABEL, private: readersOf(item.event) });
  if (others.length === 0) return added;
  // What an agent says on behalf of the owner is the agent's words all the same.
  const author = isOwner(principal) ? agentPrincipal(sender) : authorOf(item.event);
  return joinLabels(added, { ...NO_LABEL, untrusted: [author], denied: others.flatMap(deniedTools) });
}

/**
 * Whose words come with a message. Who sends a file along need not have named it. The prompt of a hook is its owner's
 * words; what it has found may be anyone's.
 */
function labelOfAdded({ event: { attachments }, dispatches }: QueueItem): Label {
  const hasFiles = Array.isArray(attachments) && attachments.length > 0;
  const hasFindings = dispatches.some(
    ({ context }) => isJsonObject(context) && (context["extracted"] ?? null) !== null,
  );
  return joinLabels(hasFiles ? FOREIGN : NO_LABEL, hasFindings ? FINDINGS : NO_LABEL);
}

const FINDINGS: Label = { ...NO_LABEL, untrusted: ["hook"] };

function authorityIn(permissions: Json): Json | undefined {
  return permissions !== null && typeof permissions === "object" && !Array.isArray(permissions)
    ? (permissions as { readonly authority?: Json }).authority
    : undefined;
}

/** Adds to the label of a session what it has come into contact with. Only a person removes it. */
export async function labelSession(
  session: SessionKey,
  sources: readonly LabelSource[],
  { sessions }: { readonly sessions: Pick<Store["sessions"], "get" | "configure"> },
): Promise<void> {
  const trusts = sources.map(({ label }) => ({ ...NO_TRUST, ...label }));
  const trust = joinTrust(...trusts);
  if (isUnlabelled(trust) && !trust.outward) return;
  const added = addedTrust(readTrust((await sessions.get(session))?.settings ?? {}), trust);
  if (added === undefined) return;
  const origins = sources.flatMap(({ origin }, at) => [
    ...LABEL_SETS.flatMap((kind) => trusts[at]![kind].map((name) => ({ kind, name, origin }))),
    { kind: "outward" as const, name: "", origin },
  ]);
  await sessions.configure(session, { [TRUST_SETTING]: trustJson(added) }, { origins });
}

/** What comes into a session, and from where. */
export interface LabelSource {
  readonly label: Label & Partial<Trust>;
  readonly origin: LabelOrigin;
}

/** The words of messages, each with its event. */
export function labelsOfMessages(items: readonly QueueItem[], turn: TurnId): LabelSource[] {
  return items.map((item) => ({ label: labelOfMessage(item), origin: { turn, events: [item.event.id] } }));
}

/** The folders of an agent, created if missing. Throws `file_unsafe`, `home_unwritable`. */
export async function agentFolders(home: string, { id, agent, persona }: Setup): Promise<TurnFolders> {
  const { workspace } = agent;
  const outputFolder = toolOutputPath(home, id);
  for (const folder of [dirname(outputFolder), outputFolder]) requireOwnFolder(folder);
  await Promise.all([makeFolder(workspace), makeFolder(outputFolder)]);
  const { roots } = persona.permissions;
  return { workspace, outputFolder, roots, hidden: [home], reserved: reservedFolders(home) };
}

async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { recursive: true });
  } catch (cause) {
    throw new CortexError("home_unwritable", `Cannot create the folder ${path}`, {
      hint: "Check its permissions and free disk space.",
      cause,
    });
  }
}

/** The environment of commands: variables for every program, and those that the turn's permissions name. */
export function toolEnvironment(own: Variables, named?: NamedVariables): Readonly<Record<string, string>> {
  return { ...childEnvironment(own, named), TERM: "dumb" };
}

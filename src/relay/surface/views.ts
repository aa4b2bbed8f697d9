/** Relays, their agents and their templates, as shown to clients. */
import type { z } from "zod";

import type { Problem } from "../../config/problem.ts";
import { isRelayId, type RelayId, type TurnId } from "../../model/ids.ts";
import { readKept } from "../artifact/artifact.ts";
import { unifiedDiff } from "../../model/compare-texts.ts";
import { convergenceReadings } from "../templates/convergence.ts";
import { toRecord } from "../record/kept-relay.ts";
import { asShown } from "../record/phases.ts";
import { type RelayRecord, type RelayStep, showRecord } from "../record/record.ts";
import { viewTurn } from "../record/relay-of-turn.ts";
import { type Endpoint, printEndpoint } from "../templates/endpoint.ts";
import type { RelayAgent, RelayConfig, RelayTemplate } from "../templates/snapshot.ts";
import type { RelayAgentSchema, RelayTemplateSchema } from "./schemas.ts";
import type { Ledger, Listed, StoredRelay, StoredRelayStep } from "../../store/store.ts";

/** A record in the format of `threads.json`, with additional fields. */
export type RelayView = Omit<ReturnType<typeof showRecord>, "steps"> & {
  readonly steps: readonly Omit<RelayStep, "leg" | "artifactBefore">[];
};

export function relayView(record: RelayRecord): RelayView {
  const steps = record.steps.map(({ leg: _leg, artifactBefore: _before, ...step }) => step);
  return { ...showRecord(record), steps };
}

export type RelayTemplateView = z.output<typeof RelayTemplateSchema>;

export function relayTemplateView(template: RelayTemplate): RelayTemplateView {
  const { name, description, agents, transitions, entryAgent, entryStage = null } = template;
  return {
    name,
    description,
    agents: agents.map((agent) => agent.name),
    entry: printEndpoint({ agent: entryAgent, stage: entryStage }),
    transitions: transitions.map(({ from, to, condition }) => ({
      from: print(from),
      to: print(to),
      condition,
    })),
    maxTotalSteps: template.maxTotalSteps,
    maxTotalCostUsd: template.maxTotalCostUsd ?? null,
    hooks: Object.keys(template.hooks),
    convergence: convergenceReadings(template),
  };
}

export type RelayAgentView = z.output<typeof RelayAgentSchema>;

export function relayAgentView(agent: RelayAgent): RelayAgentView {
  const { name, description, profile, persistSession, stages = {}, pluginDirs } = agent;
  return {
    name,
    description,
    profile,
    persistSession,
    stages: Object.entries(stages).map(([stage, about]) => ({ name: stage, description: about.description })),
    entryStage: agent.entryStage ?? null,
    tools: agent.tools ?? null,
    pluginDirs,
  };
}

export interface RelayConfigView {
  readonly templates: readonly RelayTemplateView[];
  readonly agents: readonly RelayAgentView[];
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
}

export function relayConfigView({ agents, templates, problems, warnings }: RelayConfig): RelayConfigView {
  return {
    templates: [...templates.values()].map(relayTemplateView),
    agents: [...agents.values()].map(relayAgentView),
    problems,
    warnings,
  };
}

function print(ends: readonly Endpoint[]): string[] {
  return ends.map(printEndpoint);
}

/** The relays of a home, newest first. */
export async function readRelayViews(
  { relays }: Pick<Ledger, "relays">,
  { running, limit }: { readonly running: boolean; readonly limit: number },
): Promise<Listed<RelayView>> {
  const { items, next } = await relays.list({
    limit,
    ...(running ? { states: ["running", "waiting"] } : {}),
  });
  const views = await Promise.all(items.map(async (stored) => viewOf(stored, await relays.steps(stored.id))));
  return { items: views, next };
}

/** A turn is shown as a relay of one step. */
export async function readRelayView(
  id: RelayId | TurnId,
  ledger: Pick<Ledger, "relays" | "turns" | "events">,
): Promise<RelayView | undefined> {
  if (!isRelayId(id)) {
    const record = await viewTurn(id, ledger);
    return record === undefined ? undefined : relayView(record);
  }
  const { relays } = ledger;
  const [stored, steps] = await Promise.all([relays.get(id), relays.steps(id)]);
  return stored === undefined ? undefined : viewOf(stored, steps);
}

function viewOf(stored: StoredRelay, steps: readonly StoredRelayStep[]): RelayView {
  return relayView(asShown(toRecord(stored, steps), steps));
}

/** The artifact after a step (default: the last one). */
export async function readRelayArtifact(
  home: string,
  { steps }: RelayView,
  step?: number,
): Promise<string | undefined> {
  const hash =
    step === undefined
      ? steps.findLast(({ artifactHash }) => artifactHash !== null)?.artifactHash
      : steps.find(({ stepIndex }) => stepIndex === step)?.artifactHash;
  return hash === undefined || hash === null ? undefined : readKept(home, hash);
}

interface ArtifactChange {
  /** Counted from 1. */
  readonly step: number;
  /** A unified diff. Null: the artifact was not stored. */
  readonly diff: string | null;
}

/** How each step changed the artifact. */
export async function readArtifactChanges(home: string, { steps }: RelayView): Promise<ArtifactChange[]> {
  const changes: ArtifactChange[] = [];
  let before = "";
  for (const { stepIndex, kind, artifactHash } of steps) {
    if (kind === "script") continue;
    const after = artifactHash === null ? undefined : await readKept(home, artifactHash);
    changes.push({
      step: stepIndex + 1,
      diff: after === undefined ? null : await unifiedDiff(before, after),
    });
    before = after ?? before;
  }
  return changes;
}

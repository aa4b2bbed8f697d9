/**
 * `data/threads.json`, in which relays were kept before there was a ledger. It is read once and never written. What is
 * read is kept under the same ids, so that a crash in the midst of it costs nothing but reading it again.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { RelayId } from "../model/ids.ts";
import type { Store } from "../store/store.ts";
import { INTERRUPTED } from "./ending.ts";
import { toStepChange, toStored } from "./kept-relay.ts";
import { newRecord, timestamp } from "./new-record.ts";
import { type AgentStep, isTerminal, type RelayRecord, type RelayStatus, type RelayStep } from "./record.ts";

export const THREADS_FILE = join("data", "threads.json");
/** Under this name it is noted that it was read. */
const NOTED = "relay-import:";
const STATUSES: readonly string[] = [
  "running",
  "waiting",
  "completed",
  "failed",
  "cancelled",
  "aborted",
] satisfies readonly RelayStatus[];

export interface Imported {
  readonly relays: number;
  /** Entries that are no records. */
  readonly skipped: number;
}

/** Undefined: there is nothing to import, or it was imported before. */
export async function importThreads(
  store: Pick<Store, "relays" | "files">,
  home: string,
  nowMs: number,
): Promise<Imported | undefined> {
  const path = join(home, THREADS_FILE);
  const [noted] = await store.files.known({ under: NOTED, limit: 1 });
  if (noted !== undefined) return undefined;
  const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  if (text === undefined) return undefined;
  const records = recordsIn(text);
  let relays = 0;
  for (const record of records.good) {
    const { fresh } = await store.relays.create({
      id: record.id as RelayId,
      template: record.templateName,
      state: record.status,
      record: toStored(record),
      channel: record.channel,
      steps: record.steps.map((step) => toStepChange(step)),
      times: { createdAtMs: momentOf(record.createdAt, nowMs), endedAtMs: momentOf(record.endedAt, nowMs) },
    });
    if (fresh) relays++;
  }
  await store.files.note([{ path: `${NOTED}${path}`, modifiedMs: nowMs, size: text.length, sha256: "" }]);
  return { relays, skipped: records.skipped };
}

function recordsIn(text: string): { readonly good: readonly RelayRecord[]; readonly skipped: number } {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return { good: [], skipped: 1 };
  }
  const all: unknown[] = typeof parsed === "object" && parsed !== null ? Object.values(parsed) : [];
  const good = all.map(toRecord).filter((record) => record !== undefined);
  return { good, skipped: all.length - good.length };
}

/** Undefined: it is no record. What had not ended was cut off. */
function toRecord(value: unknown): RelayRecord | undefined {
  const given = value as Partial<RelayRecord> | null;
  if (typeof given?.id !== "string" || !/^thr_[0-9a-f]{8}$/.test(given.id)) return undefined;
  if (typeof given.status !== "string" || !STATUSES.includes(given.status)) return undefined;
  const activeAgent = typeof given.activeAgent === "string" ? given.activeAgent : "main";
  const blank = newRecord({
    id: given.id,
    templateName: null,
    configHash: "",
    slots: [],
    entry: { agent: activeAgent, stage: given.activeStage ?? null },
    channel: "",
    userMessage: "",
    nowMs: 0,
  });
  const isOver = isTerminal({ status: given.status });
  const steps = Array.isArray(given.steps) ? (given.steps as readonly Partial<AgentStep>[]) : [];
  return {
    ...blank,
    ...given,
    ...(isOver ? {} : { status: "failed", error: INTERRUPTED }),
    steps: steps.map(toStep),
    currentStepIndex: steps.length,
    stopReason: given.stopReason ?? null,
    configHash: "",
    phase: { kind: "ended" },
    active: blank.active,
    leg: 0,
    ending: null,
  };
}

function toStep(step: Partial<AgentStep>, stepIndex: number): RelayStep {
  return {
    agentSlotId: "",
    stage: null,
    executionId: null,
    sessionId: null,
    sessionName: null,
    input: "",
    output: null,
    costUsd: null,
    numTurns: null,
    durationS: null,
    startedAt: null,
    endedAt: timestamp(0),
    ...step,
    stepIndex,
    kind: "agent",
    leg: null,
    status: "completed",
    error: null,
    artifactBefore: null,
    artifactHash: null,
  };
}

function momentOf(text: string | null, otherwise: number): number {
  const ms = Date.parse(text ?? "");
  return Number.isNaN(ms) ? otherwise : ms;
}

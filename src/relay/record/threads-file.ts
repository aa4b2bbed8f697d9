/**
 * `data/threads.json`, in which relays were kept before there was a ledger. It is read once and never written. What is
 * read is kept under the same ids, so that a crash in the midst of it costs nothing but reading it again.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { isRelayId } from "../../model/ids.ts";
import type { Store } from "../../store/store.ts";
import { INTERRUPTED } from "./ending.ts";
import { toStepChange, toStored } from "./kept-relay.ts";
import { isObject } from "../templates/loose.ts";
import { newRecord, timestamp } from "./new-record.ts";
import { type AgentStep, isTerminal, type RelayRecord, type RelayStatus, type RelayStep } from "./record.ts";

export const THREADS_FILE = join("data", "threads.json");
/** Records how many bytes of the file were imported. */
const IMPORT_JOB = "relay-import";
const STATUSES: readonly RelayStatus[] = [
  "running",
  "waiting",
  "completed",
  "failed",
  "cancelled",
  "aborted",
];

export interface Imported {
  readonly relays: number;
  /** Entries that are no records. */
  readonly skipped: number;
  /** Why nothing could be read. It is tried again at the next start. */
  readonly problem?: string;
}

/** Undefined: there is nothing to import, or it was imported before. */
export async function importThreads(
  store: Pick<Store, "relays" | "progress">,
  home: string,
  nowMs: number,
): Promise<Imported | undefined> {
  if ((await store.progress.get(IMPORT_JOB)) !== undefined) return undefined;
  const records = await readRecords(join(home, THREADS_FILE));
  if (records === undefined || records.problem !== undefined) return records;
  let relays = 0;
  for (const record of records.good) {
    const { fresh } = await store.relays.create({
      id: record.id,
      template: record.templateName,
      state: record.status,
      record: toStored(record),
      channel: record.channel,
      steps: record.steps.map((step) => toStepChange(step)),
      times: { createdAtMs: momentOf(record.createdAt, nowMs), endedAtMs: momentOf(record.endedAt, nowMs) },
    });
    if (fresh) relays++;
  }
  await store.progress.set({ job: IMPORT_JOB, position: records.bytes });
  return { relays, skipped: records.skipped };
}

interface Records extends Imported {
  readonly good: readonly RelayRecord[];
  readonly bytes: number;
}

/** Undefined: there is no such file. Whatever else is wrong with it must not keep other relays from going on. */
async function readRecords(path: string): Promise<Records | undefined> {
  const none = { relays: 0, skipped: 0, good: [], bytes: 0 };
  try {
    const text = await readFile(path, "utf8");
    const parsed: unknown = JSON.parse(text);
    if (typeof parsed !== "object" || parsed === null) return { ...none, problem: "it holds no object" };
    const all: unknown[] = Object.values(parsed);
    const good = all.map(toRecord).filter((record) => record !== undefined);
    return { ...none, good, bytes: text.length, skipped: all.length - good.length };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    return { ...none, problem: error instanceof Error ? error.message : String(error) };
  }
}

type Kind = "string" | "number" | "object";

const RECORD_FIELDS = {
  templateName: "string",
  channel: "string",
  platformThreadId: "string",
  userMessage: "string",
  userMessageTs: "string",
  workspacePath: "string",
  artifactPath: "string",
  agents: "object",
  activeAgent: "string",
  activeStage: "string",
  iterationCounts: "object",
  totalCostUsd: "number",
  createdAt: "string",
  updatedAt: "string",
  endedAt: "string",
  error: "string",
  abortReason: "string",
  stopReason: "string",
  metadata: "object",
} as const satisfies Partial<Record<keyof RelayRecord, Kind>>;

const STEP_FIELDS = {
  agentSlotId: "string",
  stage: "string",
  executionId: "string",
  sessionId: "string",
  sessionName: "string",
  input: "string",
  output: "string",
  costUsd: "number",
  numTurns: "number",
  durationS: "number",
  startedAt: "string",
  endedAt: "string",
} as const satisfies Partial<Record<keyof AgentStep, Kind>>;

/** Undefined: it is no record. What had not ended was cut off. */
function toRecord(value: unknown): RelayRecord | undefined {
  if (!isObject(value)) return undefined;
  const { id, status, steps } = value;
  if (typeof id !== "string" || !isRelayId(id)) return undefined;
  const known = STATUSES.find((each) => each === status);
  if (known === undefined) return undefined;
  const given = fitting<RelayRecord>(value, RECORD_FIELDS);
  const blank = newRecord({
    id,
    templateName: null,
    configHash: "",
    slots: [],
    entry: { agent: given.activeAgent ?? "main", stage: given.activeStage ?? null },
    channel: "",
    userMessage: "",
    nowMs: 0,
  });
  const kept = Array.isArray(steps) ? steps.filter(isObject) : [];
  const slots = Object.entries(given.agents ?? {}).filter(([, slot]) => isObject(slot));
  return {
    ...blank,
    ...given,
    agents: Object.fromEntries(slots),
    ...(isTerminal({ status: known }) ? { status: known } : { status: "failed", error: INTERRUPTED }),
    steps: kept.map(toStep),
    currentStepIndex: kept.length,
    phase: { kind: "ended" },
  };
}

function toStep(step: Loose, stepIndex: number): RelayStep {
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
    ...fitting<AgentStep>(step, STEP_FIELDS),
    stepIndex,
    kind: "agent",
    leg: null,
    status: "completed",
    error: null,
    artifactBefore: null,
    artifactHash: null,
  };
}

type Loose = Readonly<Record<string, unknown>>;

/** The fields that are what they should be. The others, and those that are null, are as in a new record. */
function fitting<T>(given: Loose, fields: Readonly<Record<string, Kind>>): Partial<T> {
  const fit = Object.entries(fields).filter(([name, kind]) =>
    kind === "object" ? isObject(given[name]) : typeof given[name] === kind,
  );
  return Object.fromEntries(fit.map(([name]) => [name, given[name]])) as Partial<T>;
}

function momentOf(text: string | null, otherwise: number): number {
  const ms = Date.parse(text ?? "");
  return Number.isNaN(ms) ? otherwise : ms;
}

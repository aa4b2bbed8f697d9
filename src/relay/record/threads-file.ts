/**
 * `data/threads.json`, the storage of relays before the ledger. It is imported once and never written. The relays keep
 * their ids, so an import interrupted by a crash can be repeated.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { hasCode } from "../../model/error-code.ts";
import { isRelayId } from "../../model/ids.ts";
import type { Store } from "../../store/store.ts";
import { INTERRUPTED } from "./ending.ts";
import { toEndedRelay } from "./kept-relay.ts";
import { isObject } from "../templates/loose.ts";
import { newRecord, timestamp } from "./new-record.ts";
import { type AgentStep, isTerminal, RELAY_STATUSES, type RelayRecord, type RelayStep } from "./record.ts";

export const THREADS_FILE = join("data", "threads.json");
/** Records how many bytes of the file were imported. */
const SOURCE = "job:relay-import";

interface ImportResult {
  readonly relays: number;
  /** Invalid entries. */
  readonly skipped: number;
  /** Why nothing could be read. The next start tries again. */
  readonly problem?: string;
}

/** Undefined: nothing to import, or already imported. */
export async function importThreads(
  store: Pick<Store, "relays" | "cursors">,
  home: string,
  nowMs: number,
): Promise<ImportResult | undefined> {
  if ((await store.cursors.get(SOURCE)) !== undefined) return undefined;
  const records = await readRecords(join(home, THREADS_FILE));
  if (records === undefined || records.problem !== undefined) return records;
  let relays = 0;
  for (const record of records.good) {
    const { createdAt, endedAt } = record;
    const times = { createdAtMs: parseTime(createdAt, nowMs), endedAtMs: parseTime(endedAt, nowMs) };
    const { fresh } = await store.relays.create(toEndedRelay(record, times));
    if (fresh) relays++;
  }
  await store.cursors.set({ source: SOURCE, value: records.bytes });
  return { relays, skipped: records.skipped };
}

interface Records extends ImportResult {
  readonly good: readonly RelayRecord[];
  readonly bytes: number;
}

/** Undefined: no such file. Any other problem is a value, because it must not stop other relays. */
async function readRecords(path: string): Promise<Records | undefined> {
  const none = { relays: 0, skipped: 0, good: [], bytes: 0 };
  try {
    const text = await readFile(path, "utf8");
    const parsed: unknown = JSON.parse(text);
    if (typeof parsed !== "object" || parsed === null) return { ...none, problem: "it is not a JSON object" };
    const all: unknown[] = Object.values(parsed);
    const good = all.map(toRecord).filter((record) => record !== undefined);
    return { ...none, good, bytes: text.length, skipped: all.length - good.length };
  } catch (error) {
    if (hasCode(error, "ENOENT")) return undefined;
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

/** Undefined: not a record. A relay that had not ended counts as interrupted. */
function toRecord(value: unknown): RelayRecord | undefined {
  if (!isObject(value)) return undefined;
  const { id, status, steps } = value;
  if (typeof id !== "string" || !isRelayId(id)) return undefined;
  const known = RELAY_STATUSES.find((each) => each === status);
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

/** The valid fields. The others, and null ones, stay as in a new record. */
function fitting<T>(given: Loose, fields: Readonly<Record<string, Kind>>): Partial<T> {
  const fit = Object.entries(fields).filter(([name, kind]) =>
    kind === "object" ? isObject(given[name]) : typeof given[name] === kind,
  );
  return Object.fromEntries(fit.map(([name]) => [name, given[name]])) as Partial<T>;
}

function parseTime(text: string | null, otherwise: number): number {
  const ms = Date.parse(text ?? "");
  return Number.isNaN(ms) ? otherwise : ms;
}

/**
 * Begins the next steps, within the budget: builds their prompts, creates the files they write to, and makes the messages
 * that request them.
 *
 * Repeating it after a crash is harmless: only missing files are created, and the messages are saved with the record.
 */
import { dayStart, localTime } from "../../model/day.ts";
import { CortexError } from "../../model/errors.ts";
import { normalizeSessionKey, type SessionKey } from "../../model/session-key.ts";
import type { Label } from "../../model/trust.ts";
import { makeSection, makeWorkspace, workspaceOf } from "../artifact/artifact.ts";
import { buildPrompt, type StepPrompt } from "./build-prompt.ts";
import { conclude, type MoveDraft, failRelay } from "./draft.ts";
import type { EnginePorts } from "./engine-ports.ts";
import { orderStep } from "./messages.ts";
import { keepNow } from "./record-ends.ts";
import { changesBefore, keepFiles, namesChanges, NO_CHANGES } from "./step-files.ts";
import type { KeptRelay } from "../record/kept-relay.ts";
import { moneyLeft, type NextStep, previousOutput } from "../record/next-step.ts";
import { pendingOf, withoutPending } from "../record/pending-messages.ts";
import { beginSteps, stepName, type StepStart } from "../record/record-step.ts";
import type { RelayRecord } from "../record/record.ts";
import { agentIn, type RelayAgent } from "../templates/snapshot.ts";
import type { RelayStepOrder } from "../../store/store.ts";

/** False: nothing could begin, and the relay ends. */
export async function beginLeg(
  draft: MoveDraft,
  next: readonly NextStep[],
  relay: KeptRelay,
  ports: EnginePorts,
): Promise<boolean> {
  const left = await leftToSpend(draft.record, relay, ports);
  if (left <= 0) {
    conclude(draft, { stopReason: "cost_limit" }, ports.clock());
    return false;
  }
  const share = left / draft.record.active.length;
  const limited = next.map((step) =>
    Number.isFinite(share) ? Object.assign({}, step, { maxCostUsd: share }) : step,
  );
  try {
    const first = draft.record.steps.length;
    const { record, orders } = await beginNext(draft, limited, relay, ports);
    draft.record = record;
    for (const [step, order] of orders) draft.orders.set(step, order);
    draft.notices.push(announce(record, first));
    return true;
  } catch (error) {
    failRelay(draft, error, ports.clock());
    return false;
  }
}

interface BegunSteps {
  readonly record: RelayRecord;
  readonly orders: ReadonlyMap<number, RelayStepOrder>;
}

async function beginNext(
  draft: MoveDraft,
  next: readonly NextStep[],
  { detail, content }: KeptRelay,
  ports: EnginePorts,
): Promise<BegunSteps> {
  const { clock, home } = ports;
  const record = await withWorkspace(draft.record, home);
  const artifactBefore = draft.artifact?.hash ?? (await keepNow(record, home)).hash;
  const orders = new Map<number, RelayStepOrder>();
  const starts: StepStart[] = [];
  for (const [offset, planned] of next.entries()) {
    const { slot, stage, maxCostUsd } = planned;
    const agent = agentIn(content, slot);
    if (agent === undefined) throw slotUnknown(slot, record.id);
    const session = normalizeSessionKey(planned.session);
    const { systemPrompt, prompt, label } = await promptFor(
      { ...planned, agent, session },
      { record, detail, content },
      ports,
    );
    const step = record.steps.length + offset;
    const wanted = { step, slot, stage, session, agent, systemPrompt, prompt, label, maxCostUsd };
    orders.set(step, orderStep(wanted, { record, detail }, ports));
    starts.push({ kind: "agent", slot, stage, input: prompt, session, artifactBefore });
  }
  await keepFiles({ record, detail, content }, [...orders.keys()], ports);
  return { record: withoutPending(beginSteps(record, starts, clock()), pendingOf(record)), orders };
}

async function promptFor(
  { slot, agent, stage, message, isResumed, section, session }: NextStep & { readonly agent: RelayAgent },
  { record, detail, content }: Pick<KeptRelay, "record" | "detail" | "content">,
  ports: EnginePorts,
): Promise<StepPrompt & { readonly label: Label }> {
  const workspace = workspaceOf(ports.home, record.id);
  const { texts, label } = namesChanges(agent, stage)
    ? await changesBefore({ record, detail }, ports)
    : NO_CHANGES;
  const prompt = buildPrompt({
    agent,
    stage,
    userMessage: record.userMessage,
    message,
    previousOutput: previousOutput(record),
    isAdHoc: content.template === undefined || content.added.some(({ name }) => name === slot),
    isResumed: isResumed && (await hasHead(session, ports)),
    artifactPath: record.artifactPath,
    sectionPath: section === undefined ? null : await makeSection(workspace, section),
    ...texts,
    pending: pendingOf(record),
    currentDateTime: localTime(ports.clock(), ports.settings.config().timezone),
  });
  return { ...prompt, label };
}

/** A relay made from a turn has no workspace until a step needs one. */
async function withWorkspace(record: RelayRecord, home: string): Promise<RelayRecord> {
  const { path, artifact } = await makeWorkspace(home, record.id);
  return record.workspacePath === path ? record : { ...record, workspacePath: path, artifactPath: artifact };
}

/** Whether a session has a turn to continue from. */
export async function hasHead(session: SessionKey, { store }: Pick<EnginePorts, "store">): Promise<boolean> {
  return (await store.sessions.get(session))?.head !== undefined;
}

function announce({ steps }: RelayRecord, first: number): string {
  const names = steps
    .slice(first)
    .map((step) => `*${stepName(step)}*`)
    .join(", ");
  const before = steps.slice(0, first).findLast(({ kind }) => kind !== "script");
  return `Step ${first + 1}: ${names} starting${before === undefined ? "" : ` (prev: ${stepName(before)})`}`;
}

/**
 * The remaining budget in USD. Its template, its starter and the daily limit for all relays each set a limit. Infinity: no
 * limit. `record` is the record about to be saved; its cost may exceed what the store knows.
 */
export async function leftToSpend(
  record: RelayRecord,
  { record: saved, content, detail }: Pick<KeptRelay, "record" | "content" | "detail">,
  { store, settings, clock }: Pick<EnginePorts, "store" | "settings" | "clock">,
): Promise<number> {
  const ofTemplate = moneyLeft(record, content.template) ?? Infinity;
  const left = Math.min(ofTemplate, (detail.budgetUsd ?? Infinity) - record.totalCostUsd);
  const { timezone, relay } = settings.config();
  if (left <= 0 || relay.usdPerDay === undefined) return Math.max(0, left);
  const unsaved = record.totalCostUsd - saved.totalCostUsd;
  const spentToday = (await store.relays.spentUsd(dayStart(clock(), timezone))) + unsaved;
  return spentToday >= relay.usdPerDay ? 0 : left;
}

function slotUnknown(slot: string, id: string): CortexError {
  return new CortexError("agent_unknown", `Relay ${id} has no agent "${slot}"`, {
    hint: `\`cortex relay add ${id} <agent>\` adds one after the relay has ended.`,
  });
}

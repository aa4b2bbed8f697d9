/** Takes the ends of steps into the record: what they answered, what they cost, and what the artifact was like then. */
import { readArtifact, workspaceOf } from "../artifact/artifact.ts";
import { keepArtifact } from "../artifact/history.ts";
import { conclude, type Draft, type FoundArtifact, nameOf } from "./draft.ts";
import type { EngineParts } from "./engine-parts.ts";
import type { KeptRelay } from "../record/kept-relay.ts";
import type { RelayRecord, RelayStep } from "../record/record.ts";
import { recordStep } from "../record/record-step.ts";
import { readStepEnd } from "../record/step-end.ts";
import { keepChanges } from "./step-files.ts";

/** An agent's own step that has failed fails the relay. One that a script asked for does not. */
export async function recordEnds(
  draft: Draft,
  relay: Pick<KeptRelay, "rows" | "detail" | "content">,
  { store, home, clock }: Pick<EngineParts, "store" | "home" | "clock">,
): Promise<void> {
  for (const row of relay.rows) {
    const step = draft.record.steps[row.step]!;
    if (row.state !== "ended" || step.status !== "running") continue;
    const { abort, ...end } = await readStepEnd(row, store);
    const isOneOfSeveral = step.kind === "agent" && draft.record.active.length > 1; // their sections are merged later
    draft.artifact = isOneOfSeveral ? undefined : await keepNow(draft.record, home);
    const artifactHash = draft.artifact?.hash ?? null;
    await keepChanges({ ...relay, record: draft.record }, row.step, { home, clock });
    draft.record = recordStep(draft.record, row.step, { ...end, artifactHash }, clock());
    if (!isLeftBehind(step, draft)) draft.abort ??= abort;
    if (end.status === "failed" && step.kind === "agent" && !isLeftBehind(step, draft)) {
      const error = `${nameOf(step)}: ${end.error ?? "failed"}`;
      conclude(draft, { stopReason: "failed", error }, clock());
    }
  }
}

/** While it waited for an answer, another agent was added. */
function isLeftBehind({ kind, leg }: RelayStep, { record }: Draft): boolean {
  return kind === "agent" && leg !== record.leg;
}

const NONE: FoundArtifact = { text: undefined, hash: null };

/** Keeps the artifact as it is. */
export async function keepNow(
  { id, workspacePath }: Pick<RelayRecord, "id" | "workspacePath">,
  home: string,
): Promise<FoundArtifact> {
  if (workspacePath === "") return NONE;
  const read = await readArtifact(workspaceOf(home, id));
  return read.kind === "read" ? { text: read.text, hash: await keepArtifact(home, read.text) } : NONE;
}

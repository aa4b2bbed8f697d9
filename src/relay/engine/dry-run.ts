/**
 * Runs a relay with the offline model: the same engine on a temporary home. Scripts are not run, because their effects
 * would be real.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CortexError } from "../../model/errors.ts";
import type { RelayAgent, SnapshotContent } from "../templates/snapshot.ts";
import { startRelay } from "./start.ts";
import type { Ports } from "../../feature/ports.ts";
import type { DryRun, RelayRequest } from "../relays.ts";

/** The offline model answers at once, so a longer run means that something hangs. */
const MAX_DRY_RUN_MS = 60_000;

const PROFILE = "offline";

export async function dryRunRelay(
  { name, message }: RelayRequest,
  content: SnapshotContent,
  { openApart, clock }: Pick<Ports, "openApart" | "clock">,
): Promise<DryRun> {
  const home = await mkdtemp(join(tmpdir(), "cortex-dry-run-"));
  try {
    writeProfiles(home);
    await using cortex = await openApart(home);
    await cortex.relays.list(); // opens them
    const { id } = await startRelay({ name, message }, withoutEffects(content), {
      store: cortex.store,
      home,
      clock,
    });
    const record = await cortex.relays.ended(id, AbortSignal.timeout(MAX_DRY_RUN_MS));
    if (record === undefined) throw notOver(name);
    return {
      template: record.templateName,
      steps: record.steps.map(({ agentSlotId, stage, input, output }) => ({
        agent: agentSlotId,
        stage,
        prompt: input,
        output,
      })),
      stopReason: record.stopReason,
      artifact: (await cortex.relays.artifact(id)) ?? "",
    };
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}

function withoutEffects({ template, added }: SnapshotContent): SnapshotContent {
  return {
    ...(template === undefined
      ? {}
      : { template: { ...template, agents: template.agents.map(offline), hooks: {} } }),
    added: added.map(offline),
  };
}

function offline(agent: RelayAgent): RelayAgent {
  return { ...agent, profile: PROFILE, pluginDirs: [] };
}

function writeProfiles(home: string): void {
  mkdirSync(join(home, "config"), { recursive: true });
  writeFileSync(
    join(home, "config", "profiles.json"),
    JSON.stringify({ defaultProfile: PROFILE, profiles: { [PROFILE]: { backend: "offline" } } }),
  );
}

function notOver(name: string): CortexError {
  return new CortexError("query_timeout", `The dry run of ${name} timed out after ${MAX_DRY_RUN_MS} ms`, {
    hint: "Check its transitions and limits with `cortex relay validate`.",
  });
}

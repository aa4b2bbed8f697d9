/** Kills a Cortex again and again while many relays are under way, and looks at what came of them. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

import type { TurnId } from "../../src/model/ids.ts";
import type { RelayRecord } from "../../src/relay/record/record.ts";
import type { Cortex } from "../../src/runtime/cortex.ts";
import { createRandom } from "../simulation/random.ts";
import { openTestCortex, writeHome } from "../support/home.ts";
import { temporaryFolder } from "../support/temporary.ts";

export interface RelayCrashOptions {
  readonly relays: number;
  readonly kills: number;
  readonly seed: number;
}

export interface RelayCrashReport {
  readonly kills: number;
  readonly relays: number;
  readonly steps: number;
  readonly problems: readonly string[];
}

const CHILD = fileURLToPath(new URL("relays-child.ts", import.meta.url));
/** A child that says nothing for this long has hung. */
const SILENCE_MS = 60_000;
/** Fewer than the ledger has of one relay, so that all kills come while there is work. */
const CHANGES_PER_RELAY = 12;

const SLOTS = ["s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9"];

export async function killRelays({ relays, kills, seed }: RelayCrashOptions): Promise<RelayCrashReport> {
  using home = temporaryFolder();
  prepareHome(home.path);
  const random = createRandom(seed);
  const most = Math.ceil((relays * CHANGES_PER_RELAY) / (kills + 1));
  let killed = 0;
  while (killed < kills && (await live(home.path, relays, random.below(most)))) killed++;
  if (await live(home.path, relays, Infinity)) throw new Error("Somebody else has killed it");
  await using cortex = await openTestCortex({}, { home: home.path });
  const { records, problems } = await check(cortex, relays);
  return {
    kills: killed,
    relays: records.length,
    steps: records.reduce((sum, { steps }) => sum + steps.length, 0),
    problems,
  };
}

/** The second and the third run side by side. Each leaves its mark once, whatever happens. */
function prepareHome(home: string): void {
  const agent = (name: string) => ({
    profile: "__active__",
    persistSession: false,
    promptTemplate: `Mark ${name}.`,
  });
  const ends = [SLOTS[0]!, SLOTS.slice(1, 3), ...SLOTS.slice(3)];
  const transitions = ends
    .slice(1)
    .map((to, place) => ({ from: ends[place], to, condition: { type: "always" } }));
  writeHome(home, {
    cortex: { relay: { onRestart: "resume" }, sandbox: "off" },
    script: JSON.stringify([
      {
        when: "Mark (s\\d)\\.",
        plays: [
          { calls: [{ tool: "Bash", args: { command: "echo $1 >> marks.txt" } }] },
          { say: "marked by $1" },
        ],
      },
    ]),
    relays: {
      agents: Object.fromEntries(SLOTS.map((name) => [name, agent(name)])),
      templates: {
        ten: {
          description: "Ten steps",
          agents: SLOTS,
          transitions,
          entryAgent: SLOTS[0],
          maxTotalSteps: SLOTS.length,
        },
      },
    },
  });
}

/** True: it was killed after so many changes. False: it was done before. */
async function live(home: string, relays: number, changes: number): Promise<boolean> {
  const child = spawn(process.execPath, [CHILD, home, String(relays)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = once(child, "exit");
  const silence = setTimeout(() => child.kill("SIGQUIT"), SILENCE_MS);
  let left = changes;
  let isDone = false;
  for await (const line of createInterface(child.stdout)) {
    silence.refresh();
    isDone ||= line === "done";
    if (left-- <= 0 && !isDone) child.kill("SIGKILL");
  }
  clearTimeout(silence);
  const [code, signal] = (await exited) as [number | null, string | null];
  if (!isDone && signal !== "SIGKILL") throw new Error(`It ended with ${signal ?? code} and was not done`);
  return !isDone;
}

async function check(
  cortex: Cortex,
  relays: number,
): Promise<{ readonly records: readonly RelayRecord[]; readonly problems: readonly string[] }> {
  const { items: records } = await cortex.relays.list({ limit: 1_000 });
  const problems: string[] = [];
  if (records.length !== relays) problems.push(`${relays} relays were started, there are ${records.length}`);
  for (const record of records) problems.push(...checkSteps(record), ...(await checkCalls(record, cortex)));
  const turns = new Set(records.flatMap(({ steps }) => steps.map(({ executionId }) => executionId)));
  const made = (await cortex.store.counts()).turns;
  if (turns.size !== relays * SLOTS.length || made !== turns.size)
    problems.push(`${relays * SLOTS.length} steps have ${turns.size} turns of ${made}`);
  return { records, problems };
}

function checkSteps({ id, status, error, steps }: RelayRecord): string[] {
  const problems: string[] = [];
  if (status !== "completed") problems.push(`${id} is ${status}: ${error}`);
  const done = steps.map(({ agentSlotId, status: end }) => `${agentSlotId} ${end}`).join(", ");
  const expected = SLOTS.map((slot) => `${slot} completed`).join(", ");
  if (done !== expected) problems.push(`${id} has the steps ${done}`);
  return problems;
}

/** A call that ended well has left its mark, one that a kill has cut off may have; none has left two. */
async function checkCalls({ id, workspacePath, steps }: RelayRecord, cortex: Cortex): Promise<string[]> {
  const problems: string[] = [];
  const file = join(workspacePath, "marks.txt");
  const marks = existsSync(file) ? readFileSync(file, "utf8").split("\n") : [];
  for (const { executionId, agentSlotId: slot } of steps) {
    const turn = executionId === null ? undefined : await cortex.store.turns.read(executionId as TurnId);
    const calls = turn?.toolCalls ?? [];
    const left = marks.filter((mark) => mark === slot).length;
    if (calls.length !== 1) problems.push(`${id}: the turn of ${slot} has ${calls.length} calls`);
    else if (left > 1 || (left === 0 && calls[0]!.status === "ok"))
      problems.push(`${id}: ${slot} has left ${left} marks`);
  }
  return problems;
}

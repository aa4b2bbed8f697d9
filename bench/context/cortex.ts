// What a turn is given of a session with 10,000 turns, never compacted and compacted: how long it takes to assemble.
// Prints one line of JSON for each.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { loadConfig } from "../../src/config/read.ts";
import type {
  AgentId,
  DispatchId,
  EventId,
  ItemId,
  MessageId,
  PersonaId,
  TurnId,
} from "../../src/model/ids.ts";
import { OFFLINE_PROFILE } from "../../src/model/profile.ts";
import { normalizeSessionKey, type SessionKey } from "../../src/model/session-key.ts";
import { createUlidSource } from "../../src/model/ulid.ts";
import { lookUp } from "../../src/personas/lookup.ts";
import { describeTurns } from "../../src/runtime/context-sources.ts";
import { readContext } from "../../src/insight/context-view.ts";
import { skillsOf } from "../../src/personas/skills.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import type { LeaseRequest, TurnFacts } from "../../src/store/store.ts";
import { assembleSystem } from "../../src/turns/system-prompt.ts";
import { historyOf, readThread } from "../../src/turns/thread.ts";
import { randomText } from "../broker/workload.ts";
import { percentile } from "../percentile.ts";
import { openMemoryFolder } from "../slow-sync.ts";

const TURNS = 10_000;
/** Turns since the compaction, about as many as fill half of the window. */
const SINCE = 300;
const ROUNDS = 200;

const home = openMemoryFolder("context");
const store = await openSqliteStore({ path: join(home, "cortex.db"), clock: Date.now });
const nextId = createUlidSource(Date.now);
const self: LeaseRequest = { holder: "bench", ttlMs: 60_000 };
const facts: TurnFacts = {
  role: "manager",
  profile: "offline",
  provider: "none",
  model: "none",
  usage: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, reasoning: 0 },
  costUsd: null,
};
const { config } = loadConfig(
  { home, environment: {}, systemTimezone: () => "UTC" },
  { cortex: undefined, profiles: undefined, env: undefined },
);
const setup = lookUp(config, "main" as AgentId, "atlas" as PersonaId);
writeWorkspace(setup.agent.workspace);
const { tools, window: windowOf } = await describeTurns(config);

for (const [name, compactedAt] of [
  ["never compacted", undefined],
  ["compacted", TURNS - SINCE],
] as const) {
  const session = normalizeSessionKey(name.replaceAll(" ", "-"));
  const head = await grow(session, compactedAt);
  const assembled = await time(() => assemble(head));
  const explained = await time(() =>
    readContext(session, {
      ledger: store,
      home,
      config,
      profile: () => OFFLINE_PROFILE,
      tools,
      window: windowOf,
    }),
  );
  const { turns } = await assemble(head);
  console.log(JSON.stringify({ name, turns, assembled, explained }));
}
await store[Symbol.asyncDispose]();

/** As a run does before it asks the model. */
async function assemble(head: TurnId): Promise<{ readonly turns: number }> {
  const [window, { skills }] = await Promise.all([
    windowOf(OFFLINE_PROFILE),
    skillsOf(setup, { home, config }),
  ]);
  const { workspace } = setup.agent;
  const [thread] = await Promise.all([
    readThread(head, store, window),
    assembleSystem(setup, { workspace, tools, skills, window }),
  ]);
  return { turns: historyOf(thread).length };
}

async function grow(session: SessionKey, compactedAt: number | undefined): Promise<TurnId> {
  let head: TurnId | undefined;
  for (let n = 0; n < TURNS; n++) {
    const question = randomText(430);
    const atMs = Date.now();
    const event = { id: `bench:${nextId()}` as EventId, channel: "bench", content: question, atMs };
    const target = { session, agent: setup.id, persona: setup.agent.persona };
    const dispatch = { id: nextId() as DispatchId, item: nextId() as ItemId, hook: "direct" };
    const { dispatched } = await store.events.accept(
      { ...event, direction: "received" },
      { dispatch: { ...dispatch, mode: "followup", target: { kind: "session", ...target } }, claim: self },
    );
    const { lease, run, turn } = dispatched!.claim!;
    let { parent } = dispatched!.claim!;
    if (n === compactedAt) {
      parent = nextId() as TurnId;
      const summary = {
        id: parent as TurnId & MessageId,
        role: "assistant",
        content: randomText(8_000),
        atMs,
      } as const;
      await store.turns.compact({ lease, run, turn: parent, facts, summary, firstKept: head });
    }
    const body = { envelope: "[Thu 2026-01-01 00:00Z bench from tyler]" };
    await store.turns.commit({
      lease,
      run,
      turn,
      parent,
      status: "completed",
      facts,
      messages: [
        { id: nextId() as MessageId, role: "user", content: question, body, atMs },
        { id: turn as TurnId & MessageId, role: "assistant", content: randomText(430), atMs },
      ],
      toolCalls: [],
    });
    head = turn;
  }
  return head!;
}

/** All five files, and 50 skills. */
function writeWorkspace(workspace: string): void {
  mkdirSync(workspace, { recursive: true });
  for (const name of ["AGENTS.md", "SOUL.md", "IDENTITY.md", "USER.md", "MEMORY.md"]) {
    writeFileSync(join(workspace, name), randomText(4_000));
  }
  for (let n = 0; n < 50; n++) {
    const folder = join(workspace, "skills", `skill-${n}`);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "SKILL.md"), `---\nname: skill-${n}\ndescription: Does ${n}.\n---\n`);
  }
}

async function time(call: () => Promise<unknown>): Promise<{ readonly p50: number; readonly p95: number }> {
  const times: number[] = [];
  for (let n = 0; n < ROUNDS; n++) {
    const startedMs = performance.now();
    await call();
    times.push(performance.now() - startedMs);
  }
  return { p50: round(percentile(times, 50)), p95: round(percentile(times, 95)) };
}

function round(value: number): number {
  return Number(value.toFixed(1));
}

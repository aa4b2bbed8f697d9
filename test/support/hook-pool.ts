/** A pool of real processes over a folder of hooks that goes with it. */
import { mkdirSync, writeFileSync } from "node:fs";
import { extname, join, parse } from "node:path";

import type { HookEvent } from "../../src/hooks/hook.ts";
import {
  type HookOutcome,
  HookPool,
  type PoolLimits,
  type Services,
  type ToAsk,
} from "../../src/hooks/run/pool.ts";
import { temporaryFolder } from "./temporary.ts";

export interface TestPool extends AsyncDisposable {
  readonly pool: HookPool;
  readonly folder: string;
  /** What was told to have failed after its hook had given a result. */
  readonly late: string[];
  /** A hook whose name has no ending is plain JavaScript: a process has it loaded in half the time. */
  write(name: string, source: string): void;
  ask(names: readonly string[], event?: Partial<HookEvent>): Promise<HookOutcome[]>;
  /** The same, with an outcome each, which need not come at the same time. */
  askEach(names: readonly string[], event?: Partial<HookEvent>): Promise<HookOutcome>[];
}

const EVENT: HookEvent = {
  id: "telegram:1",
  timestamp: Date.UTC(2026, 10, 15, 9),
  channel: "telegram",
  direction: "received",
  content: "hello",
  content_type: null,
  thread_id: null,
  sender_id: "ada",
  account: null,
  place: null,
  topic: null,
  place_kind: null,
  mentions_me: null,
  reply_to: null,
  message_id: null,
  about: null,
  metadata: {},
  payload: null,
  attachments: [],
  source_adapter: "telegram",
  source_id: "1",
  target: null,
};

export function openTestPool(
  hooks: Readonly<Record<string, string>>,
  options: {
    limits?: Partial<PoolLimits>;
    services?: Partial<Services>;
    dbPath?: string;
    timezone?: () => string;
    clock?: () => number;
  } = {},
): TestPool {
  const temporary = temporaryFolder();
  const folder = join(temporary.path, "hooks");
  mkdirSync(folder);
  const late: string[] = [];
  const refuse = async (): Promise<never> => {
    throw new Error("not in this test");
  };
  const pool = new HookPool({
    data: { folder, dbPath: options.dbPath ?? null },
    timezone: () => options.timezone?.() ?? "UTC",
    clock: options.clock ?? Date.now,
    services: { query: refuse, search: refuse, llm: refuse, ...options.services },
    onLate: (hook, error) => late.push(`${hook}: ${error}`),
    // A machine that is busy with other tests is slow to answer, and slower to load what a hook needs.
    limits: { maxMissed: Infinity, deadlineMs: 120_000, ...options.limits },
  });
  const files = new Map<string, string>();
  const write = (name: string, source: string): void => {
    const file = extname(name) === "" ? `${name}.js` : name;
    files.set(parse(name).name, file);
    writeFileSync(join(folder, file), source);
  };
  for (const [name, source] of Object.entries(hooks)) write(name, source);
  const toAsk = (name: string): ToAsk => ({
    source: { name, path: join(folder, files.get(name)!) },
    self: { id: name, name, created_at: 0, trigger_count: 0, last_triggered: null },
    missedMs: undefined,
  });
  const askEach: TestPool["askEach"] = (names, event = {}) =>
    pool.judge({ ...EVENT, ...event }, EVENT.timestamp, names.map(toAsk));
  return {
    pool,
    folder,
    late,
    write,
    ask: (names, event) => Promise.all(askEach(names, event)),
    askEach,
    async [Symbol.asyncDispose]() {
      await pool[Symbol.asyncDispose]();
      temporary[Symbol.dispose]();
    },
  };
}

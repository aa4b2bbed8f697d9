/**
 * The engine of relays on a real store, with real files and scripts. Only the turns of the steps are played: the test
 * says what each of them writes and answers. It can crash at any save, and go on with what is left.
 */
import assert from "node:assert/strict";
import { appendFileSync, existsSync, readFileSync } from "node:fs";

import { runGroup } from "../../src/programs/run-group.ts";
import type { AgentId, RelayId } from "../../src/model/ids.ts";
import type { Json } from "../../src/model/json.ts";
import { createUlidSource } from "../../src/model/ulid.ts";
import { readArtifact, workspaceOf } from "../../src/relay/artifact/artifact.ts";
import { Engine } from "../../src/relay/engine/engine.ts";
import type { EnginePorts } from "../../src/relay/engine/engine-ports.ts";
import { readRelay } from "../../src/relay/record/kept-relay.ts";
import { isTerminal, type RelayRecord } from "../../src/relay/record/record.ts";
import { recover } from "../../src/relay/engine/recover.ts";
import type { RelayScripts } from "../../src/relay/templates/snapshot.ts";
import { activeAgent, contentFor, startRelay } from "../../src/relay/engine/start.ts";
import type { RelayRequest } from "../../src/relay/relays.ts";
import type { SqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import type { Claim, Store } from "../../src/store/store.ts";
import { loadFiles } from "./config-home.ts";
import { openTestStore } from "./open-store.ts";
import { relayHome } from "./relay-home.ts";
import { alice, facts, message, turnFor } from "./sample.ts";

/** What a step is asked. */
export interface Asked {
  readonly step: number;
  /** `agent` or `agent:stage`. */
  readonly name: string;
  readonly prompt: string;
  readonly session: string;
}

/** What it does: writes to the end of its file, answers, costs something; or fails; or works until it is ended. */
export interface Played {
  readonly says?: string;
  readonly writes?: string;
  readonly costUsd?: number;
  readonly fails?: string;
  readonly holds?: boolean;
  /** Calls of tools that went well. */
  readonly calls?: readonly { readonly tool: string; readonly params: Json }[];
}

export type Cast = (asked: Asked) => Played;

export interface Stage extends AsyncDisposable {
  readonly home: string;
  readonly store: Store;
  readonly engine: Engine;
  /** All that steps were asked, also before a crash. */
  readonly asked: Asked[];
  /** The steps whose turns were committed. */
  readonly done: string[];
  readonly problems: unknown[];
  /** What people were told. */
  readonly told: string[];
  readonly clock: { (): number; advance(ms: number): void };
  /** How many saves there were. */
  readonly saves: number;
  run(request?: Partial<RelayRequest>): Promise<RelayId>;
  read(id: RelayId): Promise<RelayRecord>;
  ended(id: RelayId): Promise<RelayRecord>;
  /** Resolves when so many steps were asked for. */
  reached(steps: number): Promise<void>;
  artifact(id: RelayId): Promise<string | undefined>;
  /** At its save of this number the process ends: before it is written, or right after. */
  crashAt(save: number, when: "before" | "after"): void;
  readonly crashed: Promise<void>;
  /** Goes on with what a crash has left. */
  reopen(onRestart: "fail" | "resume"): Promise<void>;
}

export interface StageOptions {
  readonly files?: Readonly<Record<string, unknown>>;
  readonly usdPerDay?: number;
  readonly extraScripts?: RelayScripts;
  /** Whether what is due cannot be read now, and how often it is looked for. */
  readonly isUnreadable?: () => boolean;
  readonly pollMs?: number;
  /** Told right after each save, before whoever saved goes on. */
  readonly onSaved?: (save: number) => Promise<void>;
}

const ENVIRONMENT = { PATH: process.env["PATH"]! };

export async function openStage(config: object, cast: Cast, options: StageOptions = {}): Promise<Stage> {
  const folder = relayHome({ "config/thread-templates.json": config, ...options.files });
  const { config: settings } = await loadFiles({
    "cortex.json": { relay: { usdPerDay: options.usdPerDay } },
  });
  const kept = await openTestStore();
  const { home } = folder.folders;
  const { clock } = kept;
  const mintId = createUlidSource(clock);
  const asked: Asked[] = [];
  const done: string[] = [];
  const problems: unknown[] = [];
  const told: string[] = [];
  const held = new Set<Claim>();
  let plan: { readonly save: number; readonly when: "before" | "after" } | undefined;
  let crashed = Promise.withResolvers<void>();
  let isDown = false;
  let saves = 0;
  let store = watched(kept.store);
  let engine = open();
  let unlisten = listen();
  engine.start();

  function watched(real: SqliteStore): Store {
    const relays: Store["relays"] = {
      ...real.relays,
      async due(...args) {
        if (options.isUnreadable?.() === true) throw new Error("The store cannot be read");
        return real.relays.due(...args);
      },
      async save(...args) {
        if (isDown) throw new Error("the process has ended");
        saves++;
        told.push(...(args[2].deliveries ?? []).map(({ content }) => content));
        const isNow = plan !== undefined && saves >= plan.save; // one that is refused is none
        if (isNow && plan?.when === "before") return goDown();
        const number = saves;
        const saved = await real.relays.save(...args);
        await options.onSaved?.(number);
        return isNow ? goDown() : saved;
      },
    };
    return new Proxy(real, {
      get(target, name) {
        if (name === "relays") return relays;
        const value: unknown = Reflect.get(target, name);
        return typeof value === "function" ? (value as (...args: never[]) => unknown).bind(target) : value;
      },
    });
  }

  function goDown(): never {
    isDown = true;
    crashed.resolve();
    throw new Error("the process ends");
  }

  function open(): Engine {
    const ports: EnginePorts = {
      store,
      home,
      clock,
      mintId,
      settings: { config: () => settings },
      slots: { withSlot: async (act) => (await act(undefined)).result },
      can: () => undefined,
      log: (line) => void problems.push(line),
      run: (program) => runGroup({ ...program, environment: ENVIRONMENT, graceMs: 500, drainMs: 500 }),
      extraScripts: { get: () => options.extraScripts, set: () => assert.fail(), delete: () => true },
    };
    return new Engine(ports, {
      retryMs: 10,
      ...(options.pollMs === undefined ? {} : { pollMs: options.pollMs }),
    });
  }

  function listen(): () => void {
    const open = store;
    let playing = Promise.resolve();
    const wake = (): void => {
      playing = playing
        .then(() => play(open))
        .catch((error: unknown) => {
          if (!isDown && open === store) problems.push(error);
        });
    };
    const unlistened = (["queue", "runs"] as const).map((topic) => open.onWake(topic, wake));
    wake();
    return () => unlistened.forEach((each) => each());
  }

  /** Ends what was asked to end, and plays what waits. */
  async function play(open: Store): Promise<void> {
    for (const claim of held) {
      if ((await open.runs.get(claim.run))?.abort === undefined) continue;
      held.delete(claim);
      await open.turns.commit(turnFor(claim, { status: "aborted", messages: [] }));
    }
    for (;;) {
      if (isDown || open !== store) return;
      const claims = await open.queue.lease(alice, 10);
      if (claims.length === 0) return;
      for (const claim of claims) await playTurn(claim, open);
    }
  }

  async function playTurn(claim: Claim, open: Store): Promise<void> {
    if (claim.abort !== undefined) {
      await open.turns.commit(turnFor(claim, { status: "aborted", messages: [] }));
      return;
    }
    const [item] = await open.queue.itemsOf(claim.turn);
    const { step, slot, stage } = item!.event.metadata as {
      step: number;
      slot: string;
      stage: string | null;
    };
    const prompt = item!.event.content!;
    const name = stage === null ? slot : `${slot}:${stage}`;
    asked.push({ step, name, prompt, session: claim.lease.session });
    const { says = "done", writes, costUsd = 0, fails, holds, calls = [] } = cast(asked.at(-1)!);
    if (writes !== undefined) writeOnce(/in (\S+\.md)/.exec(prompt)![1]!, writes);
    if (holds === true) {
      held.add(claim);
      return;
    }
    if (fails !== undefined) {
      const { lease, run } = claim;
      await open.runs.fail({ lease, run, error: fails, outcome: { kind: "dead" } });
      return;
    }
    const toolCalls = calls.map(({ tool, params }, ordinal) => ({
      ordinal,
      callId: `call-${ordinal}`,
      tool,
      params,
      status: "ok" as const,
      result: { text: "done" },
      startedAtMs: clock(),
      completedAtMs: clock(),
    }));
    const messages = [message(item!.id, "user", prompt), message(claim.turn, "assistant", says)];
    await open.turns.commit(turnFor(claim, { messages, toolCalls, facts: { ...facts, costUsd } }));
    done.push(item!.event.id);
  }

  async function read(id: RelayId): Promise<RelayRecord> {
    return (await readRelay(id, store))!.record;
  }

  async function until(isSo: () => Promise<boolean> | boolean): Promise<void> {
    for (;;) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const stop = store.onWake("changes", resolve);
      const late = setTimeout(resolve, 200);
      try {
        if (await isSo()) return;
        await promise;
      } finally {
        stop();
        clearTimeout(late);
      }
    }
  }

  return {
    home,
    get store() {
      return store;
    },
    get engine() {
      return engine;
    },
    get saves() {
      return saves;
    },
    get crashed() {
      return crashed.promise;
    },
    asked,
    done,
    problems,
    told,
    clock,
    async run(request = {}) {
      const known = await folder.read();
      const wanted = { name: "test", message: "Do it", ...request };
      const content = contentFor(wanted, known, activeAgent("main" as AgentId, known));
      const { id } = await startRelay(wanted, content, { store, home, clock });
      return id;
    },
    read,
    async ended(id) {
      await until(async () => isTerminal(await read(id)));
      return read(id);
    },
    reached: (steps) => until(() => asked.length >= steps),
    async artifact(id) {
      const found = await readArtifact(workspaceOf(home, id));
      return found.kind === "read" ? found.text : undefined;
    },
    crashAt(save, when) {
      plan = { save, when };
    },
    async reopen(onRestart) {
      isDown = true;
      unlisten();
      held.clear();
      await engine[Symbol.asyncDispose]();
      store = watched(await kept.crash());
      isDown = false;
      plan = undefined;
      crashed = Promise.withResolvers<void>();
      await recover(store, onRestart, clock);
      engine = open();
      unlisten = listen();
      engine.start();
    },
    async [Symbol.asyncDispose]() {
      unlisten();
      await engine[Symbol.asyncDispose]();
      await kept[Symbol.asyncDispose]();
      folder[Symbol.dispose]();
    },
  };
}

/** A turn that is taken up again does not write again what it has written. */
function writeOnce(file: string, text: string): void {
  if (!existsSync(file) || !readFileSync(file, "utf8").includes(text)) appendFileSync(file, text);
}

const agent = (fields: object = {}) => ({
  profile: "__active__",
  persistSession: false,
  promptTemplate: "Work in {{artifactPath}} on {{input}}",
  ...fields,
});

/** Agents a, b, c and d, of which the last keeps its session; `coder` has stages. */
export function relayConfig(transitions: readonly object[], template: object = {}): object {
  return {
    agents: {
      a: agent(),
      b: agent(),
      c: agent(),
      d: agent({ persistSession: true }),
      coder: {
        profile: "__active__",
        persistSession: true,
        directive: "You code.",
        stages: {
          implement: { promptTemplate: "Implement in {{artifactPath}}" },
          review: { promptTemplate: "Review in {{artifactPath}}", continuesSession: true },
        },
        entryStage: "implement",
      },
    },
    templates: {
      test: {
        description: "For tests",
        agents: ["a", "b", "c", "d", "coder"],
        transitions,
        entryAgent: "a",
        maxTotalSteps: 10,
        ...template,
      },
    },
  };
}

export const always = (from: string | readonly string[], to: string | readonly string[]) => ({
  from,
  to,
  condition: { type: "always" },
});

/** The steps of the demo, in order. */
import assert from "node:assert/strict";
import { writeFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";

import { MAIN_SESSION, normalizeSessionKey } from "../model/session-key.ts";
import type { Comparison } from "../insight/compare-turns.ts";
import type { fullTurnView, SessionView, EventView } from "../feature/views.ts";
import { BUILD_MAY_END, HOOK, WEBHOOK, writeDemoScript, type DemoHome } from "./demo-home.ts";
import { MESSAGES, CHARGES } from "./demo-script.ts";
import { typed, type DemoStage } from "./demo-stage.ts";
import { openTalk } from "./demo-talk.ts";
import type { SendResult } from "./send.ts";
import { CortexError } from "../model/errors.ts";
import type { RelayView } from "../relay/surface/views.ts";
import { signatureHeaders } from "../channels/webhook/sign.ts";
import type { WholeMemberView } from "../team/surface/schemas.ts";
import { ask } from "../client/ask.ts";
import { needServer } from "../client/server.ts";
import type { Json } from "../model/json.ts";
import type { DemoServer } from "./demo-server.ts";

/** One step of the demo. */
interface DemoStep {
  readonly name: string;
  readonly title: string;
  /** What happens, in one or two sentences. */
  readonly about: string;
  play(scene: Scene): Promise<Played>;
}

interface Scene {
  readonly home: DemoHome;
  readonly server: DemoServer;
  readonly stage: DemoStage;
  /** Delay before each answer of the model. */
  readonly thinkMs: number;
}

interface Played {
  /** A summary of what was shown. */
  readonly shown: string;
  /** The same for programs. */
  readonly facts: Readonly<Record<string, Json>>;
}

type Turn = ReturnType<typeof fullTurnView>;

const CHAT_STEP: DemoStep = {
  name: "chat",
  title: "A chat",
  about: "You ask, the agent uses a tool, and its answer streams in.",
  async play({ home, stage }) {
    stage.shell("cortex chat");
    await using talk = await openTalk(MAIN_SESSION, { home: home.path, stage });
    await talk.say(MESSAGES.chat);
    const { id, toolCalls, text } = await stage.look<Turn>("show", await talk.turn());
    const tools = toolCalls.map(({ name }) => name);
    stage.suggest("In one line", typed(["send", MESSAGES.chat, "--wait"]));
    return {
      shown: `Question, ${tools.join(" and ")}, and answer are one turn: ${id}.`,
      facts: { turnId: id, tools, text },
    };
  },
};

const STEER_STEP: DemoStep = {
  name: "steer",
  title: "Steering a running turn",
  about: "A message sent while a tool runs reaches the agent within the same turn, at its next step.",
  async play({ home, stage }) {
    stage.shell("cortex chat");
    await using talk = await openTalk(MAIN_SESSION, { home: home.path, stage });
    await talk.say(MESSAGES.build);
    await talk.until("tool.started");
    await talk.say(MESSAGES.steer, "steer");
    writeFileSync(join(home.workspace, BUILD_MAY_END), "");
    const { id, messages, toolCalls } = await stage.look<Turn>("show", await talk.turn());
    const asked = messages.filter(({ role }) => role === "user").map(({ content }) => content);
    assert.deepEqual(asked, [MESSAGES.build, MESSAGES.steer]);
    const tools = toolCalls.map(({ name }) => name);
    stage.suggest("The whole turn", `cortex show ${id}`);
    return {
      shown: `Your ${asked.length} messages became one turn: ${id}.`,
      facts: { turnId: id, asked, tools },
    };
  },
};

const FORK_STEP: DemoStep = {
  name: "fork",
  title: "A fork",
  about: "Continue from any earlier turn in a new session. Both branches are kept and can be compared.",
  async play({ stage }) {
    const { items } = await stage.look<{ readonly items: readonly SessionView[] }>("sessions");
    const main = items.find(({ key }) => key === MAIN_SESSION);
    const { parentId } = await stage.look<Turn>("show", main?.head ?? "");
    const fork = await stage.cortex<SendResult>(
      "fork",
      parentId ?? "",
      MESSAGES.fork,
      "--session",
      "leaflet",
      "--wait",
    );
    const { common, left, right } = await stage.cortex<Comparison>(
      "diff",
      MAIN_SESSION,
      fork.session,
      "--side",
    );
    assert(common !== null);
    stage.suggest("The tree", "cortex log --all");
    return {
      shown: `Two branches of ${common.id}, side by side.`,
      facts: { common: common.id, heads: [left.head, right.head], texts: [left, right].map(textOf) },
    };
  },
};

function textOf({ turns }: Comparison["left"]): string {
  return turns.at(-1)?.text ?? "";
}

const HOOK_STEP: DemoStep = {
  name: "hook",
  title: "A hook that fires on a webhook",
  about:
    "Another program posts an event. A hook, a TypeScript file of yours, decides whether it goes to an agent.",
  async play(scene) {
    const { home, stage } = scene;
    stage.file(readFileSync(home.hookFile, "utf8"), `hooks/${HOOK}.ts`);
    await using talk = await openTalk(normalizeSessionKey("orders"), { home: home.path, stage });
    stage.say("");
    const forged = await post(scene, { order: 15, total: 900 }, "not the secret");
    const small = await post(scene, { order: 16, total: 20 }, home.secret);
    const large = await post(scene, { order: 17, total: 250 }, home.secret);
    const turnId = await talk.turn();
    const events = ["events", "--channel", "webhook", "--why"];
    const { items } = await stage.cortex<{ readonly items: readonly Judged[] }>(...events);
    stage.suggest("Try it on another event", typed(TRY_HOOK));
    const fired = items.filter(({ hooks }) => hooks.some(({ fired }) => fired)).map(({ id }) => id);
    assert.deepEqual(fired, [large]);
    return {
      shown: `The forged order was rejected, the small one recorded, the large one answered: ${turnId}.`,
      facts: { answers: [forged, small, large], fired, turnId },
    };
  },
};

interface Order {
  readonly order: number;
  readonly total: number;
}

const PAYLOAD = JSON.stringify({ order: 18, total: 99 });
const TRY_HOOK = ["hooks", "test", HOOK, "--channel", "webhook", "--sender", WEBHOOK, "--payload", PAYLOAD];

type Judged = EventView & { readonly hooks: readonly { readonly fired: boolean }[] };

/** Posts with a signature, as another program would. Returns the event id, or the error code. */
async function post({ home, stage }: Scene, body: Order, secret: string): Promise<string> {
  const content = JSON.stringify(body);
  const line = `POST /webhooks/${WEBHOOK} ${content}`;
  try {
    const signed = signatureHeaders(content, secret, Date.now());
    const headers = { ...signed, "X-Cortex-Delivery": `order-${body.order}` };
    const server = await needServer(home.path);
    const path = `/webhooks/${WEBHOOK}`;
    const reply = await ask<{ readonly eventId: string }>(server, { method: "POST", path, body, headers });
    stage.say(`${line} → ${reply.status}`);
    return reply.body.eventId;
  } catch (error) {
    if (!(error instanceof CortexError) || error.code !== "signature_invalid") throw error;
    stage.say(`${line} → 401, ${error.code}`);
    return error.code;
  }
}

const RELAY_STEP: DemoStep = {
  name: "relay",
  title: "A relay",
  about: "Agents pass one file along, the artifact, until the last one approves it.",
  async play({ stage }) {
    type Ended = RelayView & { readonly output: string | null };
    const relay = await stage.cortex<Ended>("relay", "run", "research", MESSAGES.relay, "--wait");
    const { id, status, steps, output } = relay;
    stage.suggest("What each agent changed", `cortex relay show ${id} --diff`);
    const agents = steps.map(({ agentSlotId }) => agentSlotId);
    return {
      shown: `${agents.join(", ")}: relay ${status}; its artifact is above.`,
      facts: { relayId: id, status, agents, artifact: output },
    };
  },
};

const LOOK_EVERY_MS = 100;
const TASK_LIMIT_MS = 60_000;
const MEMBER = "shop-dev";

const TEAM_STEP: DemoStep = {
  name: "team",
  title: "A team task",
  about:
    "A team is a folder of Markdown files. A member run by Cortex takes its task from there and writes the result back.",
  async play({ home, stage }) {
    await stage.only("team", "init", "--yes", "--team-dir", home.teamFolder);
    const role = ["--project", home.project, "--role", "Look after the shop."];
    await stage.only("team", "register", "Shop Dev", ...role);
    await stage.only("team", "dispatch", MEMBER, "Say when we are open", "Write the hours into hours.md.");
    await stage.cortex("team", "tick", MEMBER);
    const untilMs = performance.now() + TASK_LIMIT_MS;
    const look = async () => (await stage.look<WholeMemberView>("team", "status", MEMBER)).tasks[0];
    let task = await look();
    for (; task?.status !== "done"; task = await look()) {
      if (performance.now() > untilMs) throw new Error(`The task is ${task?.statusText ?? "gone"}`);
      await wait(LOOK_EVERY_MS);
    }
    const file = join("agents", MEMBER, "tasks.md");
    stage.file(readFileSync(join(home.teamFolder, file), "utf8"), `team/${file}`);
    stage.suggest("The whole team", "cortex team status");
    const { title, status, summary } = task;
    return { shown: `${MEMBER} completed its task.`, facts: { title, status, summary } };
  },
};

const KILL_STEP: DemoStep = {
  name: "kill",
  title: "kill -9 in the middle of a turn",
  about:
    "The server is killed between two tool calls and restarted. The turn continues with the second call.",
  async play({ home, server, stage, thinkMs }) {
    stage.shell("cortex chat");
    await using talk = await openTalk(MAIN_SESSION, { home: home.path, stage });
    await talk.say(MESSAGES.charge);
    await talk.until("tool.finished");
    const { pid } = await needServer(home.path);
    stage.shell(`kill -9 ${pid}`);
    await server.kill();
    writeDemoScript(home.path, { thinkMs, receiptMs: thinkMs });
    stage.shell("cortex up");
    const again = await server.start();
    const turnId = await talk.turn();
    const file = join(home.workspace, CHARGES);
    const charges = readFileSync(file, "utf8");
    stage.shell(`cat ${file}`);
    stage.say(charges.trimEnd());
    stage.suggest("The turn", `cortex show ${turnId}`);
    const { toolCalls } = await stage.look<ReturnType<typeof fullTurnView>>("show", turnId);
    const lines = charges.trimEnd().split("\n");
    assert.equal(lines.length, 1);
    return {
      shown: `Killed after the first call, resumed by process ${again.pid}, charged once.`,
      facts: {
        turnId,
        killed: pid,
        pid: again.pid,
        calls: toolCalls.map(({ name, status }) => `${name} ${status}`),
        charges: lines,
      },
    };
  },
};

const VERIFY_STEP: DemoStep = {
  name: "verify",
  title: "The ledger",
  about: "The hash of a turn covers its parent's hash and its own content.",
  async play({ stage }) {
    const { ok, turns } = await stage.cortex<{ readonly ok: boolean; readonly turns: number }>("verify");
    return { shown: "Every turn is intact.", facts: { ok, turns } };
  },
};

export const STEPS: readonly DemoStep[] = [
  CHAT_STEP,
  STEER_STEP,
  FORK_STEP,
  HOOK_STEP,
  RELAY_STEP,
  TEAM_STEP,
  KILL_STEP,
  VERIFY_STEP,
];

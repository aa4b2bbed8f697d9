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
import type { WholeMemberView } from "../team/surface/views.ts";
import { ask } from "../client/ask.ts";
import { needServer } from "../client/server.ts";
import type { Json } from "../model/json.ts";
import type { DemoServer } from "./demo-server.ts";

/** One thing that a demo shows. */
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
  /** How long the model takes before it says something. */
  readonly thinkMs: number;
}

interface Played {
  /** What was to be seen. */
  readonly shown: string;
  /** The same for programs. */
  readonly facts: Readonly<Record<string, Json>>;
}

type Turn = ReturnType<typeof fullTurnView>;

const CHAT_STEP: DemoStep = {
  name: "chat",
  title: "A chat",
  about: "You ask, the agent uses a tool, and its answer appears as it is written.",
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
  title: "A steer in the middle of work",
  about: "What you type while a tool runs is read within the same turn, at its next step.",
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
    stage.suggest("All of the turn", `cortex show ${id}`);
    return {
      shown: `${asked.length} messages of yours, one turn: ${id}.`,
      facts: { turnId: id, asked, tools },
    };
  },
};

const FORK_STEP: DemoStep = {
  name: "fork",
  title: "A fork",
  about: "From any turn, however old, you can go on differently. Both branches stay, and can be compared.",
  async play({ stage }) {
    const { items } = await stage.look<{ readonly items: readonly SessionView[] }>("sessions");
    const { head } = items.find(({ key }) => key === MAIN_SESSION)!;
    const { parentId } = await stage.look<Turn>("show", head!);
    const fork = await stage.cortex<SendResult>(
      "fork",
      parentId!,
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
    stage.suggest("The tree", "cortex log --all");
    return {
      shown: `Two branches of ${common!.id}, side by side.`,
      facts: { common: common!.id, heads: [left.head, right.head], texts: [left, right].map(textOf) },
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
    "Another program posts what happened. A hook, a TypeScript file of yours, decides whether an agent is told.",
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
    stage.suggest("What it says to other events", typed(TRY_HOOK));
    const fired = items.filter(({ hooks }) => hooks.some(({ fired }) => fired)).map(({ id }) => id);
    assert.deepEqual(fired, [large]);
    return {
      shown: `The forged order was refused, the small one recorded, the large one answered: ${turnId}.`,
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

/** Signed as another program would sign it. Gives back the event, or why it was refused. */
async function post({ home, stage }: Scene, body: Order, secret: string): Promise<string> {
  const content = JSON.stringify(body);
  const told = `POST /webhooks/${WEBHOOK} ${content}`;
  try {
    const signed = signatureHeaders(content, secret, Date.now());
    const headers = { ...signed, "X-Cortex-Delivery": `order-${body.order}` };
    const server = await needServer(home.path);
    const reply = await ask(server, { method: "POST", path: `/webhooks/${WEBHOOK}`, body, headers });
    const { eventId } = reply.body as { eventId: string };
    stage.say(`${told} → ${reply.status}`);
    return eventId;
  } catch (error) {
    if (!(error instanceof CortexError) || error.code !== "signature_invalid") throw error;
    stage.say(`${told} → 401, ${error.code}`);
    return error.code;
  }
}

const RELAY_STEP: DemoStep = {
  name: "relay",
  title: "A relay",
  about: "Agents pass one file along, the artifact, until the last of them finds nothing wrong with it.",
  async play({ stage }) {
    type Ended = RelayView & { readonly output: string | null };
    const relay = await stage.cortex<Ended>("relay", "run", "research", MESSAGES.relay, "--wait");
    const { id, status, steps, output } = relay;
    stage.suggest("What each of them changed", `cortex relay show ${id} --diff`);
    const agents = steps.map(({ agentSlotId }) => agentSlotId);
    return {
      shown: `${agents.join(", ")}: the relay is ${status}; above is its artifact.`,
      facts: { relayId: id, status, agents, artifact: output },
    };
  },
};

/** How often it is looked whether a task is done. */
const LOOK_EVERY_MS = 100;
const TASK_LIMIT_MS = 60_000;
const MEMBER = "shop-dev";

const TEAM_STEP: DemoStep = {
  name: "team",
  title: "A task of a team",
  about:
    "A team is a folder of Markdown files. A member that Cortex runs takes its task from there, and writes what came of it.",
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
    stage.suggest("What everybody does", "cortex team status");
    const { title, status, summary } = task;
    return { shown: `${MEMBER} has done its task.`, facts: { title, status, summary } };
  },
};

const KILL_STEP: DemoStep = {
  name: "kill",
  title: "kill -9, in the middle of a turn",
  about: "The server is killed between two tool calls and started again. The turn goes on with the second.",
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
      shown: `Killed after the first call, taken up by process ${again.pid}, and charged once.`,
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
  about: "Every turn is hashed over the one before it and all that was said and done in it.",
  async play({ stage }) {
    const { ok, turns } = await stage.cortex<{ readonly ok: boolean; readonly turns: number }>("verify");
    return { shown: "Nothing was lost, and nothing changed since it was written.", facts: { ok, turns } };
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

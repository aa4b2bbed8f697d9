/** The steps of a demo in which work comes from elsewhere: from another program, from a template, from a team. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";

import { CortexError } from "../model/errors.ts";
import { normalizeSessionKey } from "../model/session-key.ts";
import type { RelayView } from "../relay/surface/views.ts";
import { signatureHeaders } from "../channels/webhook/sign.ts";
import type { WholeMemberView } from "../team/surface/schemas.ts";
import type { EventView } from "../feature/views.ts";
import { ask } from "../client/ask.ts";
import { HOOK, WEBHOOK } from "./demo-home.ts";
import { MESSAGES } from "./demo-script.ts";
import { typed } from "./demo-stage.ts";
import type { DemoStep, Scene } from "./demo-step.ts";
import { openTalk } from "./demo-talk.ts";
import { needServer } from "../client/server.ts";

export const WEBHOOK_AND_HOOK: DemoStep = {
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

export const RELAY: DemoStep = {
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

export const TEAM: DemoStep = {
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

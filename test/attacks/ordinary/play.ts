/**
 * Plays days on a Cortex as it comes out of the box, with a model that does what the day says. The owner agrees to
 * whatever they are asked; what they were asked because of labels is an alarm.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect } from "vitest";

import { decide } from "../../../src/intake/approvals.ts";
import type { Json } from "../../../src/model/json.ts";
import { normalizeSessionKey } from "../../../src/model/session-key.ts";
import type { Request } from "../../../src/model/request.ts";
import type { Cortex } from "../../../src/runtime/cortex.ts";
import { MAX_PAGE } from "../../../src/store/store.ts";
import { type HomeFiles, writeHome } from "../../support/home.ts";
import {
  type ModelRequest,
  type ModelServer,
  type Reply,
  startModelServer,
} from "../../support/model-server.ts";
import { openTestServer, PATIENT, type TestServer } from "../../support/server.ts";
import { teamHome } from "../../support/team-home.ts";
import { temporaryFolder } from "../../support/temporary.ts";
import { openReceiver } from "../../support/webhook-receiver.ts";
import type { Step } from "../attack.ts";
import { writeBelow } from "../scene.ts";
import type { Day, Doing } from "./day.ts";
import { openWeb } from "./web.ts";

const OWNER = { name: "owner", isOwner: true };
const NEVER = new AbortController().signal;

/** What everybody has who has used Cortex for a while. */
const USUAL: Readonly<Record<string, string>> = {
  "AGENTS.md": "Be helpful.\n",
  "USER.md": "# The user\n- Lives in Leipzig.\n",
  "MEMORY.md": "# Memory\n- The bank is the Volksbank; the account ends in 4711.\n",
};

/** A request to the owner that there would not be without labels. */
export interface Alarm {
  readonly day: string;
  readonly tool: string;
  readonly reason: string;
}

/** Days that share a Cortex, and have nothing else in common; or one of a team. */
export async function playDays(days: readonly Day[], { isTeam = false } = {}): Promise<readonly Alarm[]> {
  await using web = await openWeb();
  await using receiver = await openReceiver();
  await using model = await startModelServer({ answer: (request) => answerOf(request, days, web.url) });
  using folder = isTeam ? teamHome({ "chief-of-staff": {}, dev: {} }) : temporaryFolder();
  const home = folder.path;
  writeHome(home, configuration(days, { web: web.url, owner: receiver.url, model: model.openaiUrl }));
  mkdirSync(join(home, "watched"));
  for (const [at, day] of days.entries())
    for (const [name, text] of Object.entries({ ...USUAL, ...day.files }))
      writeBelow(join(home, "workspaces", agentOf(day, at), name), fill(text, web.url));
  const environment = { PATH: process.env["PATH"], HOME: home, MODEL_KEY: "none" };
  await using served = await openTestServer({}, { home, environment });
  if (isTeam) await served.cortex.team.open(); // gives the coordinator its session
  using asked = agreeToAll(served.cortex);
  const alarms: Alarm[] = [];
  for (const [at, day] of days.entries()) {
    for (const doing of day.talks) await carryOut(doing, agentOf(day, at), { served, web: web.url, model });
    for (const { tool = "", reason = "" } of asked.splice().filter(isBecauseOfLabels))
      alarms.push({ day: day.name, tool, reason });
  }
  await checkCalls(days, served.cortex);
  return alarms;
}

/** As it comes out of the box, apart from the doors that the days use. */
function configuration(
  days: readonly Day[],
  { web, owner, model }: { readonly web: string; readonly owner: string; readonly model: string },
): HomeFiles {
  const own = days.filter(({ agent }) => agent === undefined);
  const played = { provider: "openai-compatible", baseUrl: model, model: "m", apiKeyEnv: "MODEL_KEY" };
  return {
    cortex: {
      agents: { main: {}, ...Object.fromEntries(own.map((day) => [agentOf(day, days.indexOf(day)), {}])) },
      personas: { atlas: { permissions: { hosts: ["*", "127.0.0.1"], channels: ["webhook"] } } },
      webSearch: { url: `${web}/search?q={query}` },
      broker: { retryMs: 0 },
      channels: {
        webhooks: { build: { scheme: "unsigned" }, owner: { deliverTo: { url: `${owner}/notes` } } },
        files: { receipts: { folder: "watched", settleMs: 10 } },
      },
    },
    hooks: { "tell.ts": TELL },
    relays: RELAYS,
    profiles: { defaultProfile: "played", profiles: { played } },
  };
}

/** Has an agent look at what comes from outside: it names the agent in its first word. */
const TELL = `
export const filter = { channels: ["webhook", "files"] };
export default async ({ event }) => {
  const [, agent] = /"?(\\S+) says/.exec(event.content ?? "") ?? [];
  if (agent === undefined) return { fire: false };
  return { fire: true, routing: { session: "agent:" + agent + ":main" } };
};
`;

const step = (promptTemplate: string) => ({
  description: "An agent",
  profile: "__active__",
  persistSession: false,
  promptTemplate,
});

const RELAYS = {
  agents: {
    implementer: step("IMPLEMENT {{userMessage}} TO {{artifactPath}}"),
    reviewer: step("REVIEW {{userMessage}} IN {{artifactPath}}"),
  },
  templates: {
    change: {
      description: "One implements, one reviews",
      agents: ["implementer", "reviewer"],
      transitions: [{ from: "implementer", to: "reviewer", condition: { type: "always" } }],
      entryAgent: "implementer",
      maxTotalSteps: 4,
    },
  },
};

function agentOf({ agent }: Day, at: number): string {
  return agent ?? `day-${at + 1}`;
}

interface World {
  readonly served: TestServer;
  readonly web: string;
  readonly model: Pick<ModelServer, "requests">;
}

async function carryOut(doing: Doing, agent: string, { served, web, model }: World): Promise<void> {
  const { cortex } = served;
  const { kind, say } = doing;
  const main = `agent:${agent}:main`;
  if (kind === "talk") await hold(fill(say, web), `agent:${agent}:${doing.session}`, cortex);
  else if (kind === "fork") {
    const head = await cortex.store.sessions.head(normalizeSessionKey(main));
    await cortex.fork(head!, `${agent}-fork`);
    await hold(fill(say, web), `${agent}-fork`, cortex);
  } else {
    if (kind === "tick") await (await cortex.team.open()).tick("dev");
    else if (kind === "file")
      writeFileSync(join(cortex.home, "watched", `${agent}.md`), `${agent} says ${say}\n`);
    else await served.send({ method: "POST", path: "/webhooks/build", body: `${agent} says ${say}` });
    const isHeard = (): boolean => model.requests.some(({ body }) => JSON.stringify(body).includes(say));
    await expect.poll(isHeard, PATIENT).toBe(true);
  }
  await expect.poll(() => workLeft(cortex), PATIENT).toBe(0);
}

async function workLeft({ store }: Cortex): Promise<number> {
  const { queued, running, suspended } = await store.counts();
  return queued + running + suspended + (await store.delegations.unreported()).length;
}

async function hold(content: string, session: string, cortex: Cortex): Promise<void> {
  const sent = await cortex.send({ content, session, mode: "followup" });
  const outcome = await cortex.outcome(sent.item, NEVER);
  expect([content, outcome?.kind]).toEqual([content, "turn"]);
}

/** Days on which calls fail, or are not made at all, say nothing. */
async function checkCalls(days: readonly Day[], { store }: Cortex): Promise<void> {
  const calls = await store.query("select * from agent_tool_calls", []);
  expect(calls.filter(({ status }) => status !== "ok")).toEqual([]);
  const steps = days.flatMap(({ talks, workers = {} }) => [
    ...talks.flatMap(({ does }) => does),
    ...Object.values(workers).flat(),
  ]);
  expect(calls).toHaveLength(steps.flatMap((each) => (typeof each === "string" ? [] : each)).length);
}

/** Does what the day says about the newest message that it knows. */
function answerOf({ messages }: Pick<ModelRequest, "messages">, days: readonly Day[], web: string): Reply {
  const at = messages.findLastIndex(({ role }) => role === "user");
  const said = messages[at]?.text ?? "";
  const steps = stepsFor(said, days, web);
  const step = steps?.[messages.slice(at + 1).filter(({ role }) => role === "assistant").length];
  if (step === undefined) return { text: "All is well." };
  if (typeof step === "string") return { text: step };
  const [, artifact = ""] = / (?:TO|IN) (\/\S+)/.exec(said) ?? [];
  return {
    calls: step.map(({ name, args }, index) => ({
      id: `call_${messages.length}_${index}`,
      name,
      arguments: JSON.parse(fill(JSON.stringify(args), web).replaceAll("{{artifact}}", artifact)) as Json,
    })),
  };
}

function stepsFor(said: string, days: readonly Day[], web: string): readonly Step[] | undefined {
  for (const { talks, workers = {} } of days) {
    const talk = talks.find(({ kind, say }) =>
      kind === "talk" || kind === "fork" ? said.endsWith(fill(say, web)) : said.includes(say),
    );
    if (talk !== undefined) return talk.does;
    const work = Object.entries(workers).find(([words]) => said.includes(words));
    if (work !== undefined) return work[1];
  }
  return undefined;
}

function fill(text: string, web: string): string {
  return text.replaceAll("{{web}}", web);
}

/** What the owner was asked since the last look. */
function agreeToAll({ store }: Cortex): Disposable & { splice(): Request[] } {
  const asked: Request[] = [];
  const look = async (): Promise<void> => {
    for (const { id, kind, request } of (await store.approvals.list({ state: "open", limit: MAX_PAGE }))
      .items) {
      const yes =
        kind === "question" ? ({ kind: "answer", text: "plain" } as const) : ({ kind: "approve" } as const);
      await decide(id, yes, OWNER, store).then(
        () => asked.push(request as unknown as Request),
        () => {}, // another look was quicker
      );
    }
  };
  const stop = store.onWake("runs", () => void look().catch(() => {})); // a store that is closed asks nobody
  return { splice: () => asked.splice(0), [Symbol.dispose]: stop };
}

/** As the reasons begin that have nothing to do with labels: they would be asked anyway. */
const OTHER_REASONS = /commands have no sandbox|`ask` list|a tool hook|new member|Cortex will work in/;

function isBecauseOfLabels({ tool, reason = "" }: Request): boolean {
  return tool !== undefined && !OTHER_REASONS.test(reason);
}

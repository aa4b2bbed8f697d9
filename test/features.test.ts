/** A feature is one item of a list: this one exists only here, and is there wherever a feature can be. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";

import type { Agent } from "../src/agents/agent.ts";
import { commandsWith } from "../src/cli/commands.ts";
import { ok } from "../src/feature/check.ts";
import type { Feature } from "../src/feature/feature.ts";
import { route } from "../src/feature/route.ts";
import { defineTool } from "../src/model/define-tool.ts";
import type { MessageId } from "../src/model/ids.ts";
import { FEATURES } from "../src/runtime/features.ts";
import { runHere } from "./support/run-here.ts";
import { openTestServer, PATIENT } from "./support/server.ts";

declare module "../src/feature/cortex.ts" {
  interface Apis {
    readonly bells: Bells;
  }
}

interface Bells {
  ring(by: string): number;
  readonly rings: readonly string[];
}

const Rings = z.object({ rings: z.array(z.string()) });
const Ring = z.strictObject({ by: z.string() });

const bells: Feature = {
  name: "bells",
  toolNames: ["ring_bell"],
  tools: async (ports, config) => [
    defineTool({
      name: "ring_bell",
      description: "Rings the bell.",
      parameters: z.strictObject({ by: z.string() }),
      writes: true,
      repeatable: true,
      timeoutMs: 1_000,
      trust: {},
      guidance: { name: "bells", text: () => `Ring it for ${Object.keys(config().agents).join(", ")}.` },
      run: async ({ by }) => ({ text: `Ring number ${ports().apis.bells.ring(by)}` }),
    }),
  ],
  routes: async () => ({
    schemas: { Rings, Ring },
    routes: [
      route({
        method: "get",
        path: "/api/bells",
        needs: "read",
        summary: "Who rang",
        answers: { 200: Rings },
        handle: async (_, { cortex }) => ({ status: 200, body: { rings: [...cortex.bells.rings] } }),
      }),
      route({
        method: "post",
        path: "/api/bells",
        needs: "send",
        summary: "Ring the bell",
        body: Ring,
        answers: { 201: Rings },
        async handle({ body: { by } }, { cortex }) {
          cortex.bells.ring(by);
          return { status: 201, body: { rings: [...cortex.bells.rings] } };
        },
      }),
    ],
  }),
  commands: [
    {
      usage: "bells <name>",
      about: "Ring the bell",
      group: "Work",
      run: async ({ args, print }) => print.data({ by: args[0] }, () => `${args[0]} rang.`),
    },
  ],
  async writeStarterFiles(home) {
    const path = join(home, "bell.txt");
    writeFileSync(path, "ding\n");
    return { paths: [path], summary: `1 bell to ${home}` };
  },
  check: async () => [ok("bells", "the bell hangs")],
  async open() {
    const rings: string[] = [];
    const api: Bells = { ring: (by) => rings.push(by), rings };
    const parse = (text: string) =>
      text === "!bell"
        ? { access: "owner" as const, run: async () => `Ring number ${api.ring("chat")}` }
        : undefined;
    return {
      api: { bells: api },
      chat: { usage: ["!bell: ring the bell"], parse },
      agentFor: (_, { worker }) => (worker?.type === "ringer" ? Promise.resolve(RINGER) : undefined),
      turnsEnded: async () => void rings.push("silence"),
      [Symbol.asyncDispose]: async () => void rings.push("closed"),
    };
  },
};

/** Runs turns without a model. */
const RINGER: Agent = {
  capabilities: { steer: false, replay: false, suspend: false },
  run: async ({ turn }) => ({
    kind: "done",
    answer: { id: turn as string as MessageId, role: "assistant", content: "ding dong", atMs: 0 },
  }),
};

const features = [...FEATURES, bells];
const script = `
- when: ^ring
  plays:
    - calls: [{ tool: ring_bell, args: { by: model } }]
    - say: done
- when: ^delegate
  plays:
    - calls: [{ tool: dispatch_to_agent, args: { type: ringer, task: ring, wait: true } }]
    - say: delegated
`;
const cortexJson = {
  personas: { atlas: { permissions: { tools: { allow: ["*"] }, ask: [] } } },
  subAgents: { types: { ringer: { description: "Rings." } } },
};

test("a feature that the list has one more of is in every place where features are", async () => {
  await using opened = await openTestServer(
    { script, cortex: cortexJson },
    { features, serving: { features } },
  );
  const { cortex } = opened;

  // Its tool is called by a model.
  const { item } = await cortex.send({ content: "ring, please" });
  const outcome = await cortex.outcome(item, AbortSignal.timeout(PATIENT.timeout));
  expect(outcome).toMatchObject({ kind: "turn", text: "done" });
  expect(cortex.bells.rings).toEqual(["model"]);

  // What it says about its tool is in the prompt, and its agent runs the turns of its workers.
  const context = await opened.send("/api/sessions/main/context?full=1");
  expect(context.json.parts).toContainEqual(
    expect.objectContaining({ name: "bells", text: "Ring it for main." }),
  );
  const delegated = await cortex.send({ content: "delegate" });
  await cortex.outcome(delegated.item, AbortSignal.timeout(PATIENT.timeout));
  const [worker] = await cortex.getChildSessions("main");
  expect((await opened.send(`/api/sessions/${worker!.key}/turns`)).json.items).toMatchObject([
    { text: "ding dong" },
  ]);

  // Its chat command replies.
  expect(await cortex.say({ content: "!bell" })).toMatchObject({ reply: "Ring number 2" });
  expect(await cortex.say({ content: "/help" })).toMatchObject({
    reply: expect.stringContaining("!bell: ring the bell"),
  });

  // Its routes answer, refuse what does not fit, and are described.
  expect(await opened.send("/api/bells")).toMatchObject({ json: { rings: ["model", "chat"] } });
  const ring = { method: "POST", path: "/api/bells" };
  expect(await opened.send({ ...ring, json: { by: "http" } })).toMatchObject({ status: 201 });
  expect(await opened.send({ ...ring, json: { by: 1 } })).toMatchObject({ status: 400 });
  const { json: api } = await opened.send("/api/openapi.json");
  expect(Object.keys(api.paths["/api/bells"])).toEqual(["get", "post"]);
  expect(Object.keys(api.components.schemas)).toEqual(expect.arrayContaining(["Rings", "Ring"]));

  // The server and the command line check it, and the command line knows its command.
  const bell = { name: "bells", state: "ok", message: "the bell hangs" };
  expect((await opened.send("/api/doctor")).json.checks).toContainEqual(expect.objectContaining(bell));
  const environment = { ...process.env, CORTEX_HOME: cortex.home };
  const run = (...argv: string[]) => runHere(environment, argv, commandsWith(features));
  const doctor = await run("doctor", "--offline", "--json");
  expect(JSON.parse(doctor.out).checks).toContainEqual(expect.objectContaining(bell));
  expect((await run("--help")).out).toMatch(/^ +bells <name> +Ring the bell$/m);
  expect(await run("bells", "Ada")).toMatchObject({ code: 0, out: "Ada rang.\n" });

  // A new home has its files.
  const { code, out } = await run("init", "--yes");
  expect([code, out]).toEqual([0, expect.stringContaining(`Wrote 1 bell to ${cortex.home}\n`)]);

  // It is closed before the queue is, and hears when the last turn has ended.
  await cortex.stop();
  expect(cortex.bells.rings.slice(-2)).toEqual(["closed", "silence"]);
});

test("without it, nothing of it is there", async () => {
  await using opened = await openTestServer();
  expect(await opened.send("/api/bells")).toMatchObject({ status: 404 });
  expect(await runHere(process.env, ["bells", "Ada"])).not.toMatchObject({ code: 0 });
});

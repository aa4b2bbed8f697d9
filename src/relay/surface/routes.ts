/** Relays: start one, look at it, steer it; and what they can be started from. */
import { count } from "../../model/count.ts";
import { CortexError } from "../../model/errors.ts";
import type { EventId, RelayId, TurnId } from "../../model/ids.ts";
import { present } from "../../model/present.ts";
import type { RelayRequest } from "../relays.ts";
import { relayAgentView, relayTemplateView, relayView } from "./views.ts";
import { ArtifactQuery, relaySchemas as schemas, RelaysQuery } from "./schemas.ts";
import { pageOf } from "../../feature/page.ts";
import { type RouteContext, route } from "../../feature/route.ts";

export const relayRoutes = [
  route({
    method: "get",
    path: "/api/relays",
    summary: "The relays",
    query: RelaysQuery,
    answers: { 200: schemas.Relays },
    async handle({ query: { running, ...options } }, { cortex }) {
      const relays = await cortex.relays.list({ ...present(options), running: running === "1" });
      return { status: 200, body: pageOf(relays, relayView) };
    },
  }),
  route({
    method: "post",
    path: "/api/relays",
    summary: "Start a relay from a template, or a single agent",
    body: schemas.RelayRequest,
    answers: { 200: schemas.RelayDryRun, 201: schemas.Relay },
    async handle({ body }, { cortex: { relays } }) {
      const { template, agent, name, delivery, dryRun = false, channel = CHANNEL, ...rest } = body;
      const kind: RelayRequest["kind"] = template === undefined ? "agent" : "template";
      const named = name === undefined ? { name: (template ?? agent)!, kind } : { name };
      const request: RelayRequest = {
        ...present(rest),
        ...named,
        ...(delivery === undefined ? {} : { delivery: present(delivery) }),
        channel,
      };
      if (dryRun) return { status: 200, body: await relays.dryRun(request) };
      return { status: 201, body: relayView(await relays.run(request)) };
    },
  }),
  route({
    method: "get",
    path: "/api/relays/:id",
    summary: "A relay with all of its steps; the id may also be that of a turn, which is a relay of one step",
    answers: { 200: schemas.Relay },
    async handle({ params }, { cortex }) {
      const record = await cortex.relays.get(params.id as RelayId);
      if (record === undefined) throw relayUnknown(params.id);
      return { status: 200, body: relayView(record) };
    },
  }),
  route({
    method: "get",
    path: "/api/relays/:id/artifact",
    summary: "The artifact of a relay, as it is now or was after a step",
    query: ArtifactQuery,
    answers: { 200: schemas.RelayArtifact },
    async handle({ params: { id }, query: { step } }, context) {
      return { status: 200, body: { id, step: step ?? null, content: await artifactOf(id, step, context) } };
    },
  }),
  route({
    method: "post",
    path: "/api/relays/:id/cancel",
    summary: "End a relay that runs",
    answers: { 200: schemas.RelayCancelled },
    async handle({ params: { id } }, { cortex }) {
      if (!(await cortex.relays.cancel(id as RelayId))) throw isOver(id);
      return { status: 200, body: { id, cancelled: true as const } };
    },
  }),
  route({
    method: "post",
    path: "/api/relays/:id/resume",
    summary: "Go on with a relay that has failed or was cancelled; no step is done twice",
    answers: { 202: schemas.Relay },
    async handle({ params }, { cortex }) {
      return { status: 202, body: relayView(await cortex.relays.resume(params.id as RelayId)) };
    },
  }),
  route({
    method: "post",
    path: "/api/relays/:id/add",
    summary: "Add an agent to a completed or waiting relay; the id may also be that of a turn",
    body: schemas.RelayAddition,
    answers: { 202: schemas.Relay },
    async handle({ params: { id }, body }, { cortex }) {
      const after = id.startsWith("thr_") ? { id: id as RelayId } : { turn: id as TurnId };
      const record = await cortex.relays.add({ ...after, ...present(body) });
      return { status: 202, body: relayView(record) };
    },
  }),
  route({
    method: "post",
    path: "/api/relays/:id/messages",
    summary: "Write to a running or waiting relay: answers its question, or is told to its next step",
    body: schemas.RelayMessage,
    answers: { 202: schemas.RelayBuffered },
    async handle({ params: { id }, body: { content, idempotencyKey } }, { cortex }) {
      const from = idempotencyKey === undefined ? {} : { event: `${CHANNEL}:${idempotencyKey}` as EventId };
      return { status: 202, body: { id, ...(await cortex.relays.say(id as RelayId, content, from)) } };
    },
  }),
  route({
    method: "get",
    path: "/api/relay-templates",
    summary: "The templates that relays can be started from",
    answers: { 200: schemas.RelayTemplates },
    async handle(_, { cortex }) {
      const { templates } = await cortex.relays.config();
      return { status: 200, body: { items: [...templates.values()].map(relayTemplateView), next: null } };
    },
  }),
  route({
    method: "get",
    path: "/api/relay-agents",
    summary: "The agents that relays can have",
    answers: { 200: schemas.RelayAgents },
    async handle(_, { cortex }) {
      const { agents } = await cortex.relays.config();
      return { status: 200, body: { items: [...agents.values()].map(relayAgentView), next: null } };
    },
  }),
];

/** What a record says of where it was started, unless the request does. */
const CHANNEL = "http";

async function artifactOf(id: string, step: number | undefined, { cortex }: RouteContext): Promise<string> {
  const record = await cortex.relays.get(id as RelayId);
  if (record === undefined) throw relayUnknown(id);
  const content = await cortex.relays.artifact(id as RelayId, step);
  if (content !== undefined) return content;
  const what = step === undefined ? `The artifact of ${id}` : `The artifact of ${id} after step ${step}`;
  throw new CortexError("state_conflict", `${what} is not kept`, {
    hint: `It has ${count(record.steps.length, "step")}. An artifact that could not be read is not kept.`,
  });
}

function relayUnknown(id: string): CortexError {
  return new CortexError("relay_unknown", `No relay has the id "${id.slice(0, 80)}"`, {
    hint: "GET /api/relays lists them.",
  });
}

function isOver(id: string): CortexError {
  return new CortexError("state_conflict", `The relay ${id} is over, or about to be`, {
    hint: `\`cortex relay status ${id}\` says how it ended.`,
  });
}

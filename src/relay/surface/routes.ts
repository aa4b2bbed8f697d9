/** The routes of relays: start, inspect and steer them; list templates and agents. */
import { count } from "../../model/count.ts";
import { CortexError } from "../../model/errors.ts";
import type { EventId, RelayId, TurnId } from "../../model/ids.ts";
import { present } from "../../model/present.ts";
import { requireScope } from "../../model/scopes.ts";
import { unknownRelay } from "../record/kept-relay.ts";
import type { RelayRecord } from "../record/record.ts";
import type { RelayRequest } from "../relays.ts";
import { relayAgentView, relayTemplateView, relayView } from "./views.ts";
import { ArtifactQuery, relaySchemas as schemas, RelaysQuery } from "./schemas.ts";
import { pageOf } from "../../feature/page.ts";
import { type RouteContext, route } from "../../feature/route.ts";

export const relayRoutes = [
  route({
    method: "get",
    path: "/api/relays",
    needs: "read",
    summary: "List relays",
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
    needs: "send",
    summary: "Start a relay from a template, or a single agent",
    body: schemas.RelayRequest,
    answers: { 200: schemas.RelayDryRun, 201: schemas.Relay },
    async handle({ body, caller }, { cortex: { relays } }) {
      if (body.dir !== undefined) requireScope(caller, "admin"); // it opens a folder to agents
      const { template, agent, name, delivery, dryRun = false, channel = CHANNEL, ...rest } = body;
      const kind: RelayRequest["kind"] = template === undefined ? "agent" : "template";
      const request: RelayRequest = {
        ...present(rest),
        ...(name === undefined ? { name: template ?? agent ?? "", kind } : { name }),
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
    needs: "read",
    summary: "A relay with all of its steps; the id of a turn shows it as a relay of one step",
    answers: { 200: schemas.Relay },
    async handle({ params }, context) {
      return { status: 200, body: relayView(await find(params.id, context)) };
    },
  }),
  route({
    method: "get",
    path: "/api/relays/:id/artifact",
    needs: "read",
    summary: "The artifact of a relay, now or after a step",
    query: ArtifactQuery,
    answers: { 200: schemas.RelayArtifact },
    async handle({ params: { id }, query: { step } }, context) {
      return { status: 200, body: { id, step: step ?? null, content: await artifactOf(id, step, context) } };
    },
  }),
  route({
    method: "post",
    path: "/api/relays/:id/cancel",
    needs: "send",
    summary: "Cancel a running relay",
    answers: { 200: schemas.RelayCancelled },
    async handle({ params: { id } }, { cortex }) {
      if (!(await cortex.relays.cancel(relayIdIn(id)))) throw isOver(id);
      return { status: 200, body: { id, cancelled: true as const } };
    },
  }),
  route({
    method: "post",
    path: "/api/relays/:id/resume",
    needs: "send",
    summary: "Resume a failed or cancelled relay; completed steps are not repeated",
    answers: { 202: schemas.Relay },
    async handle({ params }, { cortex }) {
      return { status: 202, body: relayView(await cortex.relays.resume(relayIdIn(params.id))) };
    },
  }),
  route({
    method: "post",
    path: "/api/relays/:id/add",
    needs: "send",
    summary: "Add an agent to a completed or waiting relay; the id may also be that of a turn",
    body: schemas.RelayAddition,
    answers: { 202: schemas.Relay },
    async handle({ params: { id }, body }, { cortex }) {
      const after = id.startsWith("thr_") ? { id: relayIdIn(id) } : { turn: id as TurnId };
      const record = await cortex.relays.add({ ...after, ...present(body) });
      return { status: 202, body: relayView(record) };
    },
  }),
  route({
    method: "post",
    path: "/api/relays/:id/messages",
    needs: "send",
    summary:
      "Send a message to a running or waiting relay: the answer to its question, or input for its next step",
    body: schemas.RelayMessage,
    answers: { 202: schemas.RelayBuffered },
    async handle({ caller, params: { id }, body: { content, idempotencyKey } }, { cortex }) {
      const { events } = cortex.store;
      const from =
        idempotencyKey === undefined
          ? {}
          : { event: events.keptId(`${CHANNEL}:${idempotencyKey}` as EventId) };
      return {
        status: 202,
        body: { id, ...(await cortex.relays.say(relayIdIn(id), content, { caller, ...from })) },
      };
    },
  }),
  route({
    method: "get",
    path: "/api/relay-templates",
    needs: "read",
    summary: "List relay templates",
    answers: { 200: schemas.RelayTemplates },
    async handle(_, { cortex }) {
      const { templates } = await cortex.relays.config();
      return { status: 200, body: { items: [...templates.values()].map(relayTemplateView), next: null } };
    },
  }),
  route({
    method: "get",
    path: "/api/relay-agents",
    needs: "read",
    summary: "List relay agents",
    answers: { 200: schemas.RelayAgents },
    async handle(_, { cortex }) {
      const { agents } = await cortex.relays.config();
      return { status: 200, body: { items: [...agents.values()].map(relayAgentView), next: null } };
    },
  }),
];

/** The default channel in a record. */
const CHANNEL = "http";

/** Any other text is the id of no relay, which the store says itself. */
function relayIdIn(id: string): RelayId {
  return id as RelayId;
}

async function find(id: string, { cortex }: RouteContext): Promise<RelayRecord> {
  const record = await cortex.relays.get(relayIdIn(id));
  if (record === undefined) throw unknownRelay(id, "GET /api/relays lists them.");
  return record;
}

async function artifactOf(id: string, step: number | undefined, context: RouteContext): Promise<string> {
  const { steps } = await find(id, context);
  const content = await context.cortex.relays.artifact(relayIdIn(id), step);
  if (content !== undefined) return content;
  const what = step === undefined ? `The artifact of ${id}` : `The artifact of ${id} after step ${step}`;
  throw new CortexError("state_conflict", `${what} is not available`, {
    hint: `The relay has ${count(steps.length, "step")}. An unreadable artifact is not stored.`,
  });
}

function isOver(id: string): CortexError {
  return new CortexError("state_conflict", `Relay ${id} is no longer running`, {
    hint: `\`cortex relay status ${id}\` shows how it ended.`,
  });
}

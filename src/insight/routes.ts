import { describeAgent, describePersona } from "./describe.ts";
import { readCosts } from "./costs.ts";
import { readHealth } from "./health.ts";
import { explain } from "./why.ts";
import { agentView, configView, isoTime, personaView, profileView } from "../feature/views.ts";
import { CostsQuery, HealthQuery, insightSchemas as schemas, WhyQuery } from "./schemas.ts";
import { METRICS_TYPE, writeMetrics } from "./metrics.ts";
import { type RouteContext, route } from "../feature/route.ts";

export const insightRoutes = [
  route({
    method: "get",
    path: "/api/health",
    summary: "Whether Cortex is up and its store answers; with `full` and the token, how it is doing",
    open: ({ full }) => full !== "1",
    query: HealthQuery,
    answers: { 200: schemas.Health },
    async handle({ query }, context) {
      const { cortex, version, startedAtMs } = context;
      const alive = { version, store: cortex.config().store, startedAt: isoTime(startedAtMs) };
      if (query.full === "1") return { status: 200, body: { ...alive, ...(await healthOf(context)) } };
      await cortex.store.changes.last();
      return { status: 200, body: { status: "ok" as const, ...alive } };
    },
  }),
  route({
    method: "get",
    path: "/api/agents",
    summary: "The agents that are configured",
    answers: { 200: schemas.Agents },
    async handle(_, { cortex }) {
      const items = Object.entries(cortex.config().agents).map(([id, agent]) => agentView(id, agent));
      return { status: 200, body: { items, next: null } };
    },
  }),
  route({
    method: "get",
    path: "/api/personas",
    summary: "The personas that are configured",
    answers: { 200: schemas.Personas },
    async handle(_, { cortex }) {
      const items = Object.entries(cortex.config().personas).map(([id, persona]) => personaView(id, persona));
      return { status: 200, body: { items, next: null } };
    },
  }),
  route({
    method: "get",
    path: "/api/agents/:id",
    summary: "All of an agent: its model, its files, and what it may do with where each rule comes from",
    answers: { 200: schemas.AgentDetails },
    async handle({ params }, { cortex }) {
      const parts = { home: cortex.home, config: cortex.config(), model: cortex.model() };
      return { status: 200, body: await describeAgent(params.id, parts) };
    },
  }),
  route({
    method: "get",
    path: "/api/personas/:id",
    summary:
      "All of a persona: who it is, what it may do and where that comes from, and the agents that have it",
    answers: { 200: schemas.PersonaDetails },
    async handle({ params }, { cortex }) {
      return { status: 200, body: describePersona(params.id, { config: cortex.config() }) };
    },
  }),
  route({
    method: "get",
    path: "/api/config",
    summary: "What is configured, without what may be secret, and the model that answers",
    answers: { 200: schemas.Config },
    async handle(_, { cortex }) {
      const { profile, why } = cortex.model();
      const body = { model: { profile: profileView(profile), why }, config: configView(cortex.config()) };
      return { status: 200, body };
    },
  }),
  route({
    method: "get",
    path: "/metrics",
    summary: "Numbers for Prometheus",
    answers: { 200: METRICS_TYPE },
    async handle(_, context) {
      const { version, startedAtMs } = context;
      const text = writeMetrics({ health: await healthOf(context), version, startedAtMs });
      return new Response(text, { headers: { "Content-Type": METRICS_TYPE } });
    },
  }),
  route({
    method: "get",
    path: "/api/costs",
    summary: "What turns have cost in the last days",
    query: CostsQuery,
    answers: { 200: schemas.Costs },
    async handle({ query }, { cortex, clock }) {
      const body = await readCosts(query, { ledger: cortex.store, nowMs: clock(), config: cortex.config() });
      return { status: 200, body };
    },
  }),
  route({
    method: "get",
    path: "/api/events/:id/why",
    summary: "All that was made of an event, or of the event behind a turn, a delivery or a queue item",
    answers: { 200: schemas.Explanation },
    query: WhyQuery,
    async handle({ params, query }, { cortex }) {
      const spans = query.live === "1" ? cortex.spans : undefined;
      return { status: 200, body: await explain(cortex.store, params.id, spans) };
    },
  }),
];

function healthOf({ cortex, clock, startedAtMs, loop, streams }: RouteContext) {
  return readHealth({
    ledger: cortex.store,
    config: cortex.config(),
    home: cortex.home,
    nowMs: clock(),
    startedAtMs,
    loop: loop(),
    streams: streams.size,
    coolDowns: cortex.coolDowns(),
    unsetVariables: cortex.unsetVariables(),
  });
}

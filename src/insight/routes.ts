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
    needs: "read",
    summary: "Check that Cortex is up; with `full` and the token, show metrics and problems",
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
    needs: "read",
    summary: "List agents",
    answers: { 200: schemas.Agents },
    async handle(_, { cortex }) {
      const items = Object.entries(cortex.config().agents).map(([id, agent]) => agentView(id, agent));
      return { status: 200, body: { items, next: null } };
    },
  }),
  route({
    method: "get",
    path: "/api/personas",
    needs: "read",
    summary: "List personas",
    answers: { 200: schemas.Personas },
    async handle(_, { cortex }) {
      const items = Object.entries(cortex.config().personas).map(([id, persona]) => personaView(id, persona));
      return { status: 200, body: { items, next: null } };
    },
  }),
  route({
    method: "get",
    path: "/api/agents/:id",
    needs: "read",
    summary: "Show an agent: its model, files, and permissions with their origins",
    answers: { 200: schemas.AgentDetails },
    async handle({ params }, { cortex }) {
      const parts = { home: cortex.home, config: cortex.config(), model: cortex.model() };
      return { status: 200, body: await describeAgent(params.id, parts) };
    },
  }),
  route({
    method: "get",
    path: "/api/personas/:id",
    needs: "read",
    summary: "Show a persona: its identity, permissions with their origins, and agents",
    answers: { 200: schemas.PersonaDetails },
    async handle({ params }, { cortex }) {
      return { status: 200, body: describePersona(params.id, { config: cortex.config() }) };
    },
  }),
  route({
    method: "get",
    path: "/api/config",
    needs: "read",
    summary: "Show the configuration, without possible secrets, and the default model",
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
    needs: "read",
    summary: "Metrics for Prometheus",
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
    needs: "read",
    summary: "Costs of turns in the last days",
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
    needs: "read",
    summary: "Trace an event, or the event behind a turn, a delivery or a queue item",
    answers: { 200: schemas.Explanation },
    query: WhyQuery,
    async handle({ params, query }, { cortex }) {
      const spans = query.live === "1" ? cortex.spans : undefined;
      return { status: 200, body: await explain(cortex.store, params.id, spans) };
    },
  }),
];

async function healthOf({ cortex, clock, startedAtMs, loop, streams }: RouteContext) {
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
    quotas: await cortex.quotas(),
    channels: cortex.channels.list(),
  });
}

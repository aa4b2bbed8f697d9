import { agentView, configView, isoTime, personaView, profileView } from "../runtime/views.ts";
import { schemas } from "./api.ts";
import { METRICS_TYPE, writeMetrics } from "./metrics.ts";
import { route } from "./route.ts";

export const insightRoutes = [
  route({
    method: "get",
    path: "/api/health",
    summary: "Whether Cortex is up and its store answers",
    open: true,
    answers: { 200: schemas.Health },
    async handle(_, { cortex, version, startedAtMs }) {
      await cortex.store.changes.last();
      const { store } = cortex.config();
      return {
        status: 200,
        body: { status: "ok" as const, version, store, startedAt: isoTime(startedAtMs) },
      };
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
    async handle(_, { cortex, version, startedAtMs }) {
      const text = writeMetrics({
        counts: await cortex.store.counts(),
        version,
        startedAtMs,
        memoryBytes: process.memoryUsage.rss(),
      });
      return new Response(text, { headers: { "Content-Type": METRICS_TYPE } });
    },
  }),
];

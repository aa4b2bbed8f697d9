import { z } from "zod";

import { pruneStore } from "./prune.ts";
import { time } from "../feature/api.ts";
import { timeField } from "../feature/requests.ts";
import { route } from "../feature/route.ts";

const PruneRequest = z.strictObject({ before: timeField.describe("A time at least a day ago.") });

export const keepSchemas = {
  Pruned: z.object({
    before: time,
    turns: z.number(),
    events: z.number(),
    deliveries: z.number(),
    approvals: z.number(),
    relays: z.number(),
  }),
  PruneRequest,
};

export const keepingRoutes = [
  route({
    method: "post",
    path: "/api/prune",
    needs: "admin",
    summary: "Delete content older than a given time, at least a day ago, that is no longer needed",
    body: keepSchemas.PruneRequest,
    answers: { 200: keepSchemas.Pruned },
    async handle({ body: { before } }, { cortex, clock }) {
      const { home, store } = cortex;
      const pruned = await pruneStore(store, { home, beforeMs: Date.parse(before), nowMs: clock() });
      return { status: 200, body: { before, ...pruned } };
    },
  }),
];

import { pruneStore } from "./prune.ts";
import { keepSchemas as schemas } from "./schemas.ts";
import { route } from "../feature/route.ts";

export const keepingRoutes = [
  route({
    method: "post",
    path: "/api/prune",
    summary: "Forget what was said before a moment, at least a day ago, where nobody needs it any more",
    body: schemas.PruneRequest,
    answers: { 200: schemas.Pruned },
    async handle({ body: { before } }, { cortex, clock }) {
      const { home, store } = cortex;
      const pruned = await pruneStore(store, { home, beforeMs: Date.parse(before), nowMs: clock() });
      return { status: 200, body: { before, ...pruned } };
    },
  }),
];

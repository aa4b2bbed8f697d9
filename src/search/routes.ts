import { present } from "../model/present.ts";
import { foundView } from "../feature/views.ts";
import { searchSchemas as schemas, SearchQuery } from "./schemas.ts";
import { route } from "../feature/route.ts";

export const searchRoutes = [
  route({
    method: "get",
    path: "/api/search",
    summary: "Search conversations by keyword, best match first",
    query: SearchQuery,
    answers: { 200: schemas.Found },
    async handle({ query: { q, channel, since, until, limit } }, { cortex: { store } }) {
      const hits = await store.events.search(
        q,
        present({
          limit,
          channels: channel === undefined ? undefined : [channel],
          sinceMs: since === undefined ? undefined : Date.parse(since),
          untilMs: until === undefined ? undefined : Date.parse(until),
        }),
      );
      return { status: 200, body: foundView(hits, await store.events.unsearched()) };
    },
  }),
];

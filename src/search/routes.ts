import { z } from "zod";

import { Labels, time } from "../feature/api.ts";
import { DIRECTIONS, timeField } from "../feature/requests.ts";
import { present } from "../model/present.ts";
import { foundView } from "../feature/views.ts";
import { route } from "../feature/route.ts";

/** The maximum number of hits of one search. */
const MAX_HITS = 100;

const SearchQuery = z.strictObject({
  q: z.string().describe("Search words."),
  channel: z.string().min(1).optional(),
  since: timeField.optional().describe("Only at or after this time."),
  until: timeField.optional().describe("Only before this time."),
  limit: z.coerce.number().int().min(1).max(MAX_HITS).optional(),
});

const Found = z.object({
  items: z.array(
    z.object({
      eventId: z.string(),
      turnId: z.string().nullable().describe("The turn that ends with this answer."),
      channel: z.string(),
      direction: z.enum(DIRECTIONS),
      sender: z.string().nullable(),
      place: z.string().nullable(),
      timestamp: time,
      principal: z.string().describe("On whose authority it happened: `owner`, `person:ada`."),
      labels: Labels.describe("Whose words it holds, and to whom it is private."),
      text: z.string().describe("The text, or the part of it with the words."),
      score: z.number().describe("Relevance from 0 to 1."),
    }),
  ),
  next: z.null(),
  unsearched: z.number().describe("Number of older events that are not indexed yet and were not searched."),
});

export const searchSchemas = { Found };

export const searchRoutes = [
  route({
    method: "get",
    path: "/api/search",
    needs: "read",
    summary: "Search conversations by keyword, best match first",
    query: SearchQuery,
    answers: { 200: Found },
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

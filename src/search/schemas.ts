import { z } from "zod";

import { time } from "../feature/api.ts";
import { DIRECTIONS, timeField } from "../feature/requests.ts";

/** How many hits one search gives at most. */
const MAX_HITS = 100;

export const SearchQuery = z.strictObject({
  q: z.string().describe("What to look for, as plain words."),
  channel: z.string().min(1).optional(),
  since: timeField.optional().describe("Only at or after this time."),
  until: timeField.optional().describe("Only before this time."),
  limit: z.coerce.number().int().min(1).max(MAX_HITS).optional(),
});

const Found = z.object({
  items: z.array(
    z.object({
      eventId: z.string(),
      turnId: z.string().nullable().describe("Of an answer: the turn that it ends."),
      channel: z.string(),
      direction: z.enum(DIRECTIONS),
      sender: z.string().nullable(),
      place: z.string().nullable(),
      timestamp: time,
      text: z.string().describe("What was said, or the part of it where the words are."),
      score: z.number().describe("From 0 to 1, larger is better."),
    }),
  ),
  next: z.null(),
  unsearched: z.number().describe("Older events that wait to be indexed and were not looked at."),
});

export const searchSchemas = { Found };

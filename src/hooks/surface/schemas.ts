/** The API schemas of hooks. */
import { z } from "zod";

import { page, time } from "../../feature/api.ts";
import { EventRequest } from "../../feature/requests.ts";

const HookPatch = z.strictObject({ enabled: z.boolean() });
const HookTestRequest = z
  .strictObject({
    eventId: z.string().optional().describe("An event of the ledger."),
    event: EventRequest.optional().describe("A synthetic event."),
  })
  .refine(({ eventId, event }) => (eventId === undefined) !== (event === undefined), {
    error: "expected either eventId or event",
  });

const Hook = z.object({
  name: z.string().describe("The name of its file, without the extension."),
  title: z.string(),
  description: z.string(),
  mode: z.enum(["persistent", "one-shot"]),
  status: z.enum(["active", "disabled", "errored", "open"]).describe("open: paused after repeated failures."),
  enabled: z.boolean(),
  present: z.boolean().describe("False: its file is missing."),
  origin: z.enum(["person", "agent"]).describe("Its author."),
  error: z.string().nullable(),
  filter: z.unknown(),
  triggers: z.number().describe("Number of times it fired."),
  triggeredAt: time.nullable(),
  lastRunAt: time.nullable(),
  openedAt: time.nullable(),
  createdAt: time,
  health: z
    .object({
      runs: z.number(),
      fired: z.number(),
      errors: z.number(),
      consecutiveErrors: z.number(),
      p95Ms: z.number().nullable(),
    })
    .describe("Over its last 100 runs."),
});
export const HookRun = z.object({
  hook: z.string(),
  eventId: z.string(),
  fired: z.boolean(),
  exclusive: z.boolean().describe("Suppresses the default hooks for its event."),
  result: z.unknown(),
  error: z.string().nullable(),
  skipped: z
    .string()
    .nullable()
    .describe("Why the hook was skipped: paused, or its scheduled time has passed."),
  llmCalls: z.number(),
  costUsd: z.number().nullable(),
  startedAt: time,
  durationMs: z.number(),
});
const HookTrial = z.object({
  hook: z.string(),
  matches: z.boolean().describe("Whether the event passes its filter. If not, the hook was not called."),
  fired: z.boolean(),
  result: z.unknown().describe("Its result in normalized form."),
  error: z.string().nullable(),
  llmCalls: z.number(),
  costUsd: z.number().nullable(),
  durationMs: z.number(),
});

export const hookSchemas = {
  Hook,
  Hooks: z.object({ items: z.array(Hook), next: z.null() }),
  HookRuns: page(HookRun),
  HookPatch,
  HookTestRequest,
  HookTrial,
};

import { z } from "zod";

import { time } from "../../feature/api.ts";
import { textField } from "../../feature/requests.ts";
import { peopleSchemas } from "../../people/schemas.ts";

const Channel = z.object({
  name: z.string(),
  account: z.string(),
  state: z
    .enum(["off", "connecting", "live", "stale", "backoff", "refused", "conflict"])
    .describe(
      "stale: the platform showed no sign of life. backoff: waits to connect again. refused: credentials are missing or not taken. conflict: another program uses them.",
    ),
  since: time,
  lastProofAt: time.nullable().describe("When the receiving connection last showed that it lives."),
  lastEventAt: time.nullable(),
  error: z.string().nullable(),
  node: z.string().nullable().describe("The node that holds the connection. Null: there is only one."),
  mayLose: z.boolean().describe("Whether the platform forgets messages before Cortex has stored them."),
  waiting: z.number().describe("Deliveries that were not sent yet."),
  dead: z.number().describe("Deliveries that were given up; see GET /api/dead."),
});
const Channels = z.object({ items: z.array(Channel), next: z.null() });

const Finding = z.object({
  name: z.string(),
  state: z.enum(["ok", "warn", "fail"]),
  message: z.string(),
  hint: z.string().nullable(),
});
const ChannelFindings = z.object({
  items: z.array(z.object({ name: z.string(), account: z.string(), findings: z.array(Finding) })),
  next: z.null(),
});

const UnpairRequest = z.strictObject({
  identity: textField.describe("`channel:sender`, or `channel@account:sender`."),
});

const PairRequest = z.strictObject({
  code: textField.describe("The code that the stranger was given."),
  as: z.enum(["owner", "member"]).default("member"),
  person: textField.optional().describe("Of a member: an existing person, or the id of a new one."),
});

export const channelSchemas = {
  Channel,
  Channels,
  ChannelFindings,
  PairRequest,
  UnpairRequest,
  Person: peopleSchemas.Person,
};

import { z } from "zod";

import { time } from "../feature/api.ts";
import { timeField } from "../feature/requests.ts";

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

import { z } from "zod";

import { time } from "../feature/api.ts";
import { moment } from "../feature/requests.ts";

const PruneRequest = z.strictObject({ before: moment.describe("A moment at least a day ago.") });

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

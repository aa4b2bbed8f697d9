import { z } from "zod";

const Diagnosis = z.object({
  state: z.enum(["ok", "warn", "fail"]).describe("The worst of them."),
  canStart: z.boolean().describe("Whether nothing was found because of which Cortex would not start."),
  checks: z
    .array(
      z.object({
        name: z.string().describe("What was looked at; several checks may have the same name."),
        state: z.enum(["ok", "warn", "fail"]),
        message: z.string(),
        hint: z.string().nullable(),
        stopsStart: z.boolean().describe("Whether Cortex does not start because of it."),
        diff: z.array(z.string()).nullable().describe("What `cortex doctor --fix` would change."),
      }),
    )
    .readonly(),
});

export const doctorSchemas = { Diagnosis };

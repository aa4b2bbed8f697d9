import { z } from "zod";

import type { Feature } from "../feature/feature.ts";
import { route } from "../feature/route.ts";

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

export const doctorRoutes = (features: readonly Feature[]) => [
  route({
    method: "get",
    path: "/api/doctor",
    summary: "All that Cortex needs, looked at: what is wrong with it, and what to do",
    answers: { 200: Diagnosis },
    async handle(_, { cortex, clock, version }) {
      const { diagnosisView, examine } = await import("./doctor.ts"); // rarely asked for, and large
      const parts = { home: cortex.home, features, nowMs: clock(), version, server: { version } };
      return { status: 200, body: diagnosisView(await examine(parts)) };
    },
  }),
];

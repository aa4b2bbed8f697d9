import { z } from "zod";

import type { Feature } from "../feature/feature.ts";
import { route } from "../feature/route.ts";

const Diagnosis = z.object({
  state: z.enum(["ok", "warn", "fail"]).describe("The worst state of all checks."),
  canStart: z.boolean().describe("Whether no failure prevents a start."),
  checks: z
    .array(
      z.object({
        name: z.string().describe("The subject of the check; several checks may have the same name."),
        state: z.enum(["ok", "warn", "fail"]),
        message: z.string(),
        hint: z.string().nullable(),
        stopsStart: z.boolean().describe("Whether this failure prevents a start."),
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
    needs: "read",
    summary: "Check everything that Cortex needs, with problems and fixes",
    answers: { 200: Diagnosis },
    async handle(_, { cortex, clock, version }) {
      const { diagnosisView, examine } = await import("./doctor.ts"); // large, and rarely needed
      const parts = { home: cortex.home, features, nowMs: clock(), version, server: { version } };
      return { status: 200, body: diagnosisView(await examine(parts)) };
    },
  }),
];

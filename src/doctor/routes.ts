import type { Feature } from "../feature/feature.ts";
import { route } from "../feature/route.ts";
import { doctorSchemas as schemas } from "./schemas.ts";

export const doctorRoutes = (features: readonly Feature[]) => [
  route({
    method: "get",
    path: "/api/doctor",
    summary: "All that Cortex needs, looked at: what is wrong with it, and what to do",
    answers: { 200: schemas.Diagnosis },
    async handle(_, { cortex, clock, version }) {
      const { diagnosisView, examine } = await import("./doctor.ts"); // rarely asked for, and large
      const parts = { home: cortex.home, features, nowMs: clock(), version, server: { version } };
      return { status: 200, body: diagnosisView(await examine(parts)) };
    },
  }),
];

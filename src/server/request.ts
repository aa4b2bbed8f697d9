import type { z } from "zod";

import { CortexError } from "../model/errors.ts";

/** What was sent, as its schema says it should be. All that is wrong with it is said at once. */
export function parseAs(what: string, schema: z.ZodType | undefined, value: unknown): unknown {
  if (schema === undefined) return undefined;
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map(({ path, message }) =>
    path.length === 0 ? message : `${path.join(".")}: ${message}`,
  );
  throw new CortexError("request_invalid", `The ${what} is not as it should be: ${problems.join("; ")}`, {
    hint: "GET /api/openapi.json describes what every path takes.",
  });
}

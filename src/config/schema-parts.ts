/** What schemas of the configuration are made of. */
import { z } from "zod";

import { CortexError } from "../model/errors.ts";
import { parseQueueMode, QUEUE_MODES } from "../model/queue-mode.ts";
import { quote } from "./problem.ts";

/** How many entries a list by name may have: agents, personas, profiles, accounts. */
export const MAX_ENTRIES = 1_000;

export const text = (description: string) => z.string().min(1).describe(description);
export const texts = (description: string) => z.array(z.string().min(1)).describe(description);
export const whole = (min: number, description: string) => z.int().min(min).describe(description);
export const usd = (description: string) => z.number().min(0).describe(description);
export const variable = (description: string) =>
  z
    .string()
    .regex(/^[A-Za-z_]\w*$/, { error: ({ input }) => `invalid variable name ${quote(input)}` })
    .describe(description);
/** Beside a command: programs inherit nothing that is not on the list of every program, or named here. */
export const env = z
  .array(variable("Name of a variable in the environment or config/.env, never its value."))
  .describe("Names of variables to pass to it, besides the few that every program gets.");
export const hosts = (description: string) =>
  z
    .array(
      z
        .string()
        .regex(HOST_PATTERN, {
          error: ({ input }) => `invalid host ${quote(input)}: use no scheme, port or path`,
        })
        .toLowerCase(),
    )
    .describe(description);

/** A name or an address with stars, or an IPv6 address in brackets. Names of other alphabets are written as `xn--`. */
const HOST_PATTERN = /^(?:[A-Za-z0-9*_-]+(?:\.[A-Za-z0-9*_-]+)*|\[[0-9A-Fa-f:.*]+\])$/;

/** A text that another part of Cortex knows how to read; its CortexError becomes the problem. */
export const parsed = <T>(parse: (text: string) => T, description: string, examples: readonly string[]) =>
  z
    .string()
    .transform((value, context): T => {
      try {
        return parse(value);
      } catch (error) {
        if (!(error instanceof CortexError)) throw error;
        context.addIssue({ code: "custom", message: error.message, params: { hint: error.hint } });
        return z.NEVER;
      }
    })
    .meta({ description, examples });

export const queueMode = (description: string) => parsed(parseQueueMode, description, QUEUE_MODES);

/** Entries by name. */
export function named<Entry extends z.ZodType>(entry: Entry, description: string) {
  return z
    .record(z.string(), entry)
    .refine((entries) => Object.keys(entries).length <= MAX_ENTRIES, {
      error: `more than ${MAX_ENTRIES} entries`,
    })
    .describe(description);
}

import { z } from "zod";

import { narrowedPermissions } from "../config/cortex-schema.ts";
import { time } from "../feature/api.ts";
import { textField } from "../feature/requests.ts";
import { ROLES } from "../model/person.ts";
import { isIdentity } from "../model/principal.ts";

const identity = textField
  .refine(isIdentity, { error: "expected channel:sender, not on a channel of Cortex itself" })
  .describe("`channel:sender`, or `channel@account:sender`.");
const role = z.enum(ROLES).describe("member: may talk. guest: is only recorded. Only `owner` is the owner.");
const whole = z.int().min(0);
const usd = z.number().min(0);

const Limits = z.object({
  pending: whole.optional().describe("How many of their messages may wait. Absent: the configured limit."),
  perMinute: whole.optional().describe("How many of their messages are taken in a minute."),
  usdPerDay: usd.optional().describe("What their turns may cost in a day, with all that these cause."),
});

const Person = z.object({
  id: z.string(),
  name: z.string(),
  role,
  identities: z.array(z.string()).describe("Each belongs to one person only."),
  permissions: z.unknown().describe("Narrows the permissions of agents that answer them. Null: not at all."),
  limits: Limits,
  createdAt: time,
});

const PersonRequest = z.strictObject({
  id: textField,
  name: textField.optional().describe("Default: the id."),
  role: role.default("member"),
  identities: z.array(identity).default([]),
  permissions: narrowedPermissions.nullable().default(null),
  limits: Limits.strict().prefault({}),
});

const PersonChange = z.strictObject({
  name: textField.optional(),
  role: role.optional(),
  identities: z.array(identity).optional().describe("All that they have from now on."),
  permissions: narrowedPermissions.nullable().optional().describe("Null: nothing is narrowed any more."),
  limits: z
    .strictObject({ pending: whole.nullable(), perMinute: whole.nullable(), usdPerDay: usd.nullable() })
    .partial()
    .optional()
    .describe("Merged; null removes a limit of their own."),
});

export const RemovalQuery = z.strictObject({
  forget: z.enum(["0", "1"]).optional().describe("1: also delete the text of what they said."),
});

export const peopleSchemas = {
  Person,
  People: z.object({ items: z.array(Person), next: z.string().nullable() }),
  PersonRequest,
  PersonChange,
  PersonRemoved: z.object({
    id: z.string(),
    forgotten: z
      .record(z.string(), z.number())
      .nullable()
      .describe("How many rows have lost their text, by kind. Null: what they said stays."),
  }),
};

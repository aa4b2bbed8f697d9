import { z } from "zod";

import { time } from "../feature/api.ts";
import { PageQuery, textField, timeField } from "../feature/requests.ts";
import { SCOPES_USAGE } from "../model/scopes.ts";

export const AuditQuery = PageQuery.extend({
  since: timeField.optional().describe("Only at or after this time."),
  person: z.string().min(1).optional().describe("Only decisions by or about this person."),
});

const TokenRequest = z.strictObject({
  name: textField,
  can: z.array(z.string()).describe(`Scopes: ${SCOPES_USAGE}.`),
  expiresAt: timeField.optional().describe("Default: never."),
});

const Token = z.object({
  id: z.string(),
  name: z.string(),
  can: z.array(z.string()),
  person: z.string().nullable().describe("The person it belongs to. Null: the owner."),
  state: z.enum(["active", "expired", "revoked"]),
  createdAt: time,
  expiresAt: time.nullable(),
  revokedAt: time.nullable(),
  lastUsedAt: time.nullable().describe("To the minute."),
});

const AuditEntry = z.object({
  seq: z.number().describe("From 1, without gaps."),
  at: time,
  principal: z.string().describe("Who made the decision."),
  kind: z.string(),
  object: z.string().describe("Id or name of the affected object."),
  detail: z.unknown(),
  hash: z.string().describe("Covers the previous entry's hash."),
});

export const accessSchemas = {
  Token,
  Tokens: z.object({ items: z.array(Token), next: z.string().nullable() }),
  TokenRequest,
  NewToken: Token.extend({ token: z.string().describe("The secret; it is not stored.") }),
  MainToken: z.object({ fingerprint: z.string(), rotatedAt: time }),
  AuditEntry,
  Audit: z.object({ items: z.array(AuditEntry), next: z.string().nullable() }),
};

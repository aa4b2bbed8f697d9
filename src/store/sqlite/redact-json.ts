import { canonicalJson, type Json } from "../../model/json.ts";
import type { Redact } from "../../model/redact.ts";

/**
 * Removes secrets from canonical JSON, which stays canonical JSON. JSON without secrets stays identical to the byte,
 * because providers sign it. Otherwise each string is redacted separately, because replacing a secret of digits
 * inside a number would break the JSON.
 */
export function redactJson(text: string, redact: Redact): string {
  if (redact(text) === text) return text;
  return canonicalJson(redactValue(JSON.parse(text) as Json, redact));
}

function redactValue(value: Json, redact: Redact): Json {
  if (typeof value === "string") return redact(value);
  if (typeof value === "number") return redactNumber(value, redact);
  if (value === null || typeof value === "boolean") return value;
  if (Array.isArray(value)) return value.map((item: Json) => redactValue(item, redact));
  const fields = Object.entries(value).map(([name, field]) => [redact(name), redactValue(field, redact)]);
  return Object.fromEntries(fields) as Json;
}

function redactNumber(value: number, redact: Redact): Json {
  const digits = String(value);
  const left = redact(digits);
  return left === digits ? value : left;
}

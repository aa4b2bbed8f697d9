import { canonicalJson, type Json } from "../../model/json.ts";
import type { Redact } from "../../model/redact.ts";

/**
 * Takes secrets out of canonical JSON, which stays canonical JSON. Where none is in it, it stays as it is to the
 * byte: providers sign what they say. Otherwise it is done text by text, because a secret of digits only would
 * leave a hole where a number was.
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

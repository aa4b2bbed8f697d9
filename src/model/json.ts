import { CortexError } from "./errors.ts";

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

export function isJsonObject(value: Json | undefined): value is { readonly [key: string]: Json } {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}

/** How deep a value may be nested: JSON.parse goes deeper than a recursive walk survives. */
export const MAX_JSON_DEPTH = 200;

/**
 * JSON with the keys of every object sorted and nothing optional about its form, so that equal values
 * have equal texts. Fields that are undefined are left out, as JSON.stringify does.
 */
export function canonicalJson(value: unknown, depth = 0): string {
  if (depth > MAX_JSON_DEPTH) throw invalid(`nested more than ${MAX_JSON_DEPTH} levels deep`);
  if (typeof value === "bigint") throw invalid(`BigInt ${value}n cannot be represented in JSON`);
  if (value === null || typeof value !== "object") return JSON.stringify(value) ?? "null";
  if (value instanceof Date) return JSON.stringify(value);
  // Texts that grow are twice as fast as lists that are joined, and payloads may have a million parts.
  let text = "";
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at++)
      text += `${at === 0 ? "" : ","}${canonicalJson(value[at], depth + 1)}`;
    return `[${text}]`;
  }
  for (const key of Object.keys(value).toSorted()) {
    const field: unknown = (value as Record<string, unknown>)[key];
    if (field === undefined) continue;
    text += `${text === "" ? "" : ","}${JSON.stringify(key)}:${canonicalJson(field, depth + 1)}`;
  }
  return `{${text}}`;
}

function invalid(why: string): CortexError {
  return new CortexError("json_invalid", `Invalid JSON value: ${why}`, {
    hint: "Use plain JSON values, or send an attachment.",
  });
}

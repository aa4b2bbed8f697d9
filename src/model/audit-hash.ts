/**
 * The hash chain of the audit log. The hash of an entry covers the hash before it and the entry as `cortex audit --json`
 * prints it, so anyone who has the output can verify it.
 */
import { hash } from "node:crypto";

import { canonicalJson, type Json } from "./json.ts";

interface HashedEntry {
  readonly seq: number;
  readonly atMs: number;
  readonly principal: string;
  readonly kind: string;
  readonly object: string;
  readonly detail: Json;
}

/** `before` is undefined for the first entry. */
export function auditHash(before: Uint8Array | undefined, { atMs, ...entry }: HashedEntry): Buffer {
  const at = new Date(atMs).toISOString();
  const previous = before === undefined ? "" : Buffer.from(before).toString("hex");
  return hash("sha256", previous + canonicalJson({ ...entry, at }), "buffer");
}

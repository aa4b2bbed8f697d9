import type { Json } from "../model/json.ts";

export const MAX_ATTACHMENT_LINES = 20;
export const MAX_ATTACHMENT_LINE_LENGTH = 300;

/** One line for each: its name, type, size and where it is. Undefined: there are none. */
export function describeAttachments(attachments: Json | undefined): string | undefined {
  const list = Array.isArray(attachments) ? (attachments as readonly Json[]) : [];
  if (list.length === 0) return undefined;
  const lines = list.slice(0, MAX_ATTACHMENT_LINES).map(toLine);
  const left = list.length - lines.length;
  return [...lines, ...(left === 0 ? [] : [`Attachments: ${left} more`])].join("\n");
}

/** The files that came with a message and are kept: the agents of its thread may read them. */
export function attachedFiles(attachments: Json | undefined): string[] {
  return (Array.isArray(attachments) ? (attachments as readonly Json[]) : [])
    .filter((attachment) => read(attachment, "state") === "stored")
    .map((attachment) => read(attachment, "path"));
}

/** Adapters and platforms have their own words for the same. */
const FIELDS = [
  ["name", "filename", "fileName"],
  ["type", "contentType", "mimeType"],
  ["size", "bytes"],
  ["path", "url"],
] as const;

/** Whatever it is called stays on its line: nobody else's words may look like ours. */
function toLine(attachment: Json): string {
  const known = FIELDS.map((names) =>
    names.map((name) => read(attachment, name)).find((value) => value !== ""),
  );
  const [name = "unnamed", type, size, path] = known;
  const said = [name, type, size === undefined ? undefined : `${size} bytes`, path];
  const line = `Attachment: ${said.filter((part) => part !== undefined).join(", ")}`;
  const flat = line.slice(0, 4 * MAX_ATTACHMENT_LINE_LENGTH).replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, " ");
  return flat.length <= MAX_ATTACHMENT_LINE_LENGTH
    ? flat.toWellFormed()
    : `${flat.slice(0, MAX_ATTACHMENT_LINE_LENGTH - 1).toWellFormed()}…`;
}

function read(attachment: Json, field: string): string {
  if (typeof attachment === "string") return field === "path" ? attachment : "";
  if (typeof attachment !== "object" || attachment === null || !Object.hasOwn(attachment, field)) return "";
  const value = (attachment as Readonly<Record<string, Json>>)[field];
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}

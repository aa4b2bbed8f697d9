/**
 * Files what came with an event, before the event is stored: `data/attachments/<sha256>`. The event keeps what is
 * known of each file, and never its bytes.
 */
import { createHash } from "node:crypto";
import { join } from "node:path";

import { CortexError } from "../model/errors.ts";
import { MAX_ATTACHMENT_BYTES, MAX_ATTACHMENTS } from "../model/event.ts";
import type { Json } from "../model/json.ts";
import { keepFile } from "../store/kept-files.ts";

type Filed = Readonly<Record<string, Json>> & {
  /**
   * `remote`: the adapter gave no bytes, only what it knows of them. `failed`: it could not get them. `over_limit`: its
   * sender has sent too many.
   */
  readonly state: "stored" | "too_large" | "over_limit" | "remote" | "failed";
};

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

/**
 * The list as the event keeps it: without `data`, with `state`, and with `sha256` and `bytes` where there was data.
 * `mayKeep` is asked about all bytes to be kept, at once.
 */
export async function fileAttachments(
  attachments: Json,
  folder: string,
  mayKeep: (bytes: number) => Promise<boolean>,
): Promise<Json> {
  if (!Array.isArray(attachments)) throw invalid("Expected a list of attachments");
  if (attachments.length > MAX_ATTACHMENTS)
    throw invalid(`An event has at most ${MAX_ATTACHMENTS} attachments, got ${attachments.length}`);
  const checked = (attachments as readonly Json[]).map(decode);
  const sizes = checked.map(({ data }) => data?.length ?? 0).filter((bytes) => bytes <= MAX_ATTACHMENT_BYTES);
  const bytes = sizes.reduce((sum, size) => sum + size, 0);
  const isKept = bytes === 0 || (await mayKeep(bytes));
  return await Promise.all(checked.map((attachment) => file(attachment, folder, isKept)));
}

interface Decoded {
  readonly told: Readonly<Record<string, Json>>;
  readonly data: Buffer | undefined;
}

/** What only filing can know is not taken from the adapter. */
function decode(attachment: Json, index: number): Decoded {
  if (typeof attachment !== "object" || attachment === null || Array.isArray(attachment))
    throw invalid(
      `attachments[${index}]: expected an object, got ${JSON.stringify(attachment).slice(0, 80)}`,
    );
  const { data, state: _, sha256: __, bytes: ___, ...told } = attachment as Readonly<Record<string, Json>>;
  if (data === undefined) return { told, data };
  if (typeof data !== "string" || data.length % 4 !== 0 || !BASE64.test(data))
    throw invalid(`attachments[${index}].data: invalid base64`);
  const { path: ____, ...named } = told;
  return { told: named, data: Buffer.from(data, "base64") };
}

async function file({ told, data }: Decoded, folder: string, isKept: boolean): Promise<Filed> {
  if (data === undefined) return { ...told, state: told["error"] === undefined ? "remote" : "failed" };
  const bytes = data.length;
  const isTooLarge = bytes > MAX_ATTACHMENT_BYTES;
  if (isTooLarge || !isKept) {
    const sha256 = createHash("sha256").update(data).digest("hex");
    return { ...told, bytes, sha256, state: isTooLarge ? "too_large" : "over_limit" };
  }
  const sha256 = await keepFile(folder, data);
  return { ...told, bytes, sha256, path: join(folder, sha256), state: "stored" };
}

function invalid(message: string): CortexError {
  return new CortexError("event_invalid", message, {
    hint: "Give each attachment as {name, contentType, data}, with data in base64.",
  });
}

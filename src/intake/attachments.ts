/** The files that came with events: filed before the event, read by people, and by agents on whose thread it is. */
import { fileAttachments } from "../events/file-attachments.ts";
import { CortexError } from "../model/errors.ts";
import { readKeptFile } from "../store/kept-files.ts";
import type { NewEvent } from "../store/store.ts";
import { attachmentsFolder } from "../config/home.ts";

/** The event to store. Its files are on disk before it names them. */
export async function withFiledAttachments(event: NewEvent, home: string): Promise<NewEvent> {
  const { attachments } = event;
  if (attachments === undefined) return event;
  return { ...event, attachments: await fileAttachments(attachments, attachmentsFolder(home)) };
}

/** Throws `attachment_unknown`. */
export async function readAttachment(sha256: string, home: string): Promise<Buffer> {
  const content = await readKeptFile(attachmentsFolder(home), sha256);
  if (content !== undefined) return content;
  throw new CortexError("attachment_unknown", `Unknown attachment "${sha256.slice(0, 80)}"`, {
    hint: "GET /api/events/<id> lists the attachments of an event; only those in state `stored` have a file.",
  });
}

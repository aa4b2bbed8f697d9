/** The files that came with events: filed before the event, read by people, and by agents on whose thread it is. */
import { fileAttachments } from "../events/file-attachments.ts";
import { DAY_MS } from "../model/durations.ts";
import { CortexError } from "../model/errors.ts";
import { personIdOf, type Principal } from "../model/principal.ts";
import { readKeptFile } from "../store/kept-files.ts";
import type { NewEvent } from "../store/store.ts";
import { attachmentsFolder } from "../config/home.ts";
import type { Intake } from "./intake.ts";

/** The event to store. Its files are on disk before it names them. A person's are kept up to a limit. */
export async function withFiledAttachments<Event extends AttributedEvent>(
  event: Event,
  { home, store, settings }: Pick<Intake, "home" | "store" | "settings">,
): Promise<Event> {
  const { attachments, principal } = event;
  if (attachments === undefined) return event;
  const mayKeep = async (bytes: number): Promise<boolean> =>
    personIdOf(principal) === undefined ||
    store.people.take({
      principal,
      what: "attachments",
      amount: bytes,
      max: settings.config().people.attachmentsMbPerDay * MB,
      refillMs: DAY_MS,
    });
  return { ...event, attachments: await fileAttachments(attachments, attachmentsFolder(home), mayKeep) };
}

type AttributedEvent = NewEvent & { readonly principal: Principal };

const MB = 1024 * 1024;

/** Throws `attachment_unknown`. */
export async function readAttachment(sha256: string, home: string): Promise<Buffer> {
  const content = await readKeptFile(attachmentsFolder(home), sha256);
  if (content !== undefined) return content;
  throw new CortexError("attachment_unknown", `Unknown attachment "${sha256.slice(0, 80)}"`, {
    hint: "GET /api/events/<id> lists the attachments of an event; only those in state `stored` have a file.",
  });
}

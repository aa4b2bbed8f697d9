/** Reads the files that agents send: whatever they may read, and the attachments of their thread by hash. */
import { createHash } from "node:crypto";
import { basename } from "node:path";

import { nameFile } from "../../model/content-type.ts";
import { CortexError } from "../../model/errors.ts";
import type { OutgoingFile } from "../../model/extras.ts";
import type { FileDigest } from "../../model/request.ts";
import type { ToolContext } from "../../model/tool.ts";
import { isWithin, type Label } from "../../model/trust.ts";
import { confine, type ConfinedPath } from "./confine.ts";
import { fileFailure } from "./file-tool.ts";
import { openFile } from "./open-inside.ts";
import { readAtMost } from "./read-bytes.ts";

interface WantedFile {
  readonly path: string;
  readonly name?: string | undefined;
}

interface SizeLimit {
  readonly channel: string;
  readonly maxBytes: number;
}

/** No channel takes more, and files are read into memory. */
const MAX_BYTES = 100 * 1024 * 1024;

export class OutgoingFiles {
  readonly #keep: (content: Uint8Array) => Promise<string>;

  /** `keep` stores a content, and returns its hash. */
  constructor(keep: (content: Uint8Array) => Promise<string>) {
    this.#keep = keep;
  }

  label(file: WantedFile, context: ToolContext): Promise<Label | undefined> {
    return explained(file, async () => context.labels?.ofFile((await placeOf(file, context)).path));
  }

  digest(file: WantedFile, context: ToolContext): Promise<FileDigest> {
    return explained(file, async () => {
      const { path } = await placeOf(file, context);
      return { path, sha256: hashOf(await this.#read(file, context, MAX_BYTES)) };
    });
  }

  /** Throws `tool_failed` if the file is not the one that was judged, or that a person has agreed to. */
  keep(file: WantedFile, context: ToolContext, { channel, maxBytes }: SizeLimit): Promise<OutgoingFile> {
    return explained(file, async () => {
      const place = await placeOf(file, context);
      const content = await this.#read(file, context, Math.min(maxBytes, MAX_BYTES), channel);
      await requireUnchanged(place, content, context);
      await context.bounds?.checkDisk();
      const named = nameFile(file.name ?? nameOf(place), content);
      return { sha256: await this.#keep(content), ...named, bytes: content.length };
    });
  }

  async #read(file: WantedFile, context: ToolContext, maxBytes: number, channel?: string): Promise<Buffer> {
    const place = await placeOf(file, context);
    await using handle = await openFile(place);
    const content = await readAtMost(handle, maxBytes, context.signal);
    if (content === undefined) throw tooLarge(place, (await handle.stat()).size, maxBytes, channel);
    if (content.length === 0) throw isEmpty(place);
    return content;
  }
}

const SHA256 = /^[0-9a-f]{64}$/;

function placeOf({ path }: WantedFile, context: ToolContext): Promise<ConfinedPath> {
  const attachment = SHA256.test(path) ? context.readable.find((each) => basename(each) === path) : undefined;
  return confine(attachment ?? path, context, "read");
}

/** Attachments are named by their hash, which says nothing. */
function nameOf({ path }: ConfinedPath): string {
  const name = basename(path);
  return SHA256.test(name) ? "file" : name;
}

/** Between judging and reading, a program of the agent may have replaced it. */
async function requireUnchanged(
  { path, shown }: ConfinedPath,
  content: Buffer,
  { agreed, sends, labels }: ToolContext,
): Promise<void> {
  const approved = agreed?.find((file) => file.path === path);
  const label = sends === undefined ? undefined : await labels?.ofFile(path);
  const isSame =
    (approved === undefined || approved.sha256 === hashOf(content)) &&
    (sends === undefined || label === undefined || isWithin(label, sends));
  if (isSame) return;
  throw new CortexError("tool_failed", `${JSON.stringify(shown)} changed during the call`, {
    hint: "Nothing was sent. Call it again when nothing else writes to the file.",
  });
}

function hashOf(content: Buffer): string {
  return createHash("sha256").update(content).digest("hex");
}

async function explained<Result>({ path }: WantedFile, act: () => Promise<Result>): Promise<Result> {
  try {
    return await act();
  } catch (error) {
    throw fileFailure(error, path) ?? error;
  }
}

function tooLarge(
  { shown }: ConfinedPath,
  bytes: number,
  maxBytes: number,
  channel: string | undefined,
): CortexError {
  const what = channel === undefined ? "Files" : `Files on ${channel}`;
  return new CortexError("tool_failed", `${JSON.stringify(shown)} has ${sizeOf(bytes)}`, {
    hint: `Nothing was sent. ${what} have at most ${sizeOf(maxBytes)}. Make it smaller, or say where it is.`,
  });
}

function sizeOf(bytes: number): string {
  return bytes < 100_000 ? `${(bytes / 1024).toFixed(1)} KB` : `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}

function isEmpty({ shown }: ConfinedPath): CortexError {
  return new CortexError("tool_failed", `${JSON.stringify(shown)} is empty`, {
    hint: "Nothing was sent: platforms refuse empty files.",
  });
}

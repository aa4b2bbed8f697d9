/** The files that agents send: what they ask for, and the port that reads and keeps them. */
import { z } from "zod";

import { MAX_FILES, type OutgoingFile } from "../model/extras.ts";
import type { FileDigest } from "../model/request.ts";
import type { ToolContext } from "../model/tool.ts";
import type { Label } from "../model/trust.ts";

const MAX_PATH_LENGTH = 4_096;
const MAX_NAME_LENGTH = 200;

export interface WantedFile {
  /** In the workspace, or the SHA-256 of an attachment of the thread. */
  readonly path: string;
  readonly name?: string | undefined;
}

/** Access to files as the file tools have it. All throw what those do. */
export interface FileSource {
  /** Undefined: labels are not known. */
  label(file: WantedFile, context: ToolContext): Promise<Label | undefined>;
  digest(file: WantedFile, context: ToolContext): Promise<FileDigest>;
  /** Keeps its content as it is now. A file that is too large is refused with both sizes. */
  keep(file: WantedFile, context: ToolContext, limit: SizeLimit): Promise<OutgoingFile>;
}

interface SizeLimit {
  readonly channel: string;
  readonly maxBytes: number;
}

const path = z.string().min(1).max(MAX_PATH_LENGTH);
const name = z
  .string()
  .trim()
  .min(1)
  .max(MAX_NAME_LENGTH)
  .refine((text) => !/[/\\\p{Cc}]/u.test(text), "Not a file name");

export const filesParameter = z
  .array(
    z.union([
      path.transform((each): WantedFile => ({ path: each })),
      z.strictObject({ path, name: name.optional() }),
    ]),
  )
  .min(1)
  .max(MAX_FILES)
  .describe("Paths in the workspace, or SHA-256 of attachments of this conversation; or {path, name}");

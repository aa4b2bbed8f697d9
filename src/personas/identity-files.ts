import { stat } from "node:fs/promises";
import { join } from "node:path";

import { type Label, mayTell, NO_LABEL } from "../model/trust.ts";
import type { FileLabels } from "./file-labels.ts";
import { readInside } from "./read-inside.ts";

/** Files of the workspace that say who the agent is and how it works, in this order. */
export const IDENTITY_FILES = ["AGENTS.md", "SOUL.md", "IDENTITY.md", "USER.md", "MEMORY.md"] as const;

/** How much of each is read, in characters. */
export const MAX_IDENTITY_FILE_LENGTH = 20_000;

export interface IdentityFile {
  readonly name: string;
  /** Empty if nothing of it is used. */
  readonly text: string;
  /** A sentence without a full stop. */
  readonly problem?: string;
}

/** The files that exist. A change counts from the next read on. */
export async function readIdentityFiles(
  workspace: string,
  names: readonly string[] = IDENTITY_FILES,
): Promise<IdentityFile[]> {
  const files = await Promise.all(names.map((name) => readIdentityFile(name, workspace)));
  return files.filter((file) => file !== undefined);
}

/** The files that an audience may be told of. What is about one person stays out of the prompt for another. */
export async function identityFilesFor(
  audience: string | undefined,
  workspace: string,
  files: Pick<FileLabels, "ofFile">,
): Promise<readonly string[]> {
  if (audience === undefined) return IDENTITY_FILES;
  const labels = await Promise.all(IDENTITY_FILES.map((name) => labelOfIdentity(name, workspace, files)));
  return IDENTITY_FILES.filter((_, at) => mayTell(labels[at]!, audience));
}

/** These are about a person. The others are instructions, which an agent may repeat to anyone. */
const PRIVATE_FILES: ReadonlySet<string> = new Set(["USER.md", "MEMORY.md"]);

/** What an identity file brings into a session. */
export async function labelOfIdentity(
  name: string,
  workspace: string,
  files: Pick<FileLabels, "ofFile">,
): Promise<Label> {
  const path = join(workspace, name);
  const exists = await stat(path).then(
    () => true,
    () => false,
  );
  if (!exists) return NO_LABEL;
  const label = await files.ofFile(path);
  return PRIVATE_FILES.has(name) ? label : withoutReaders(label);
}

/** An instruction may be repeated to anyone, no matter who wrote it. */
export function withoutReaders(label: Label): Label {
  return { ...label, private: [] };
}

async function readIdentityFile(name: string, workspace: string): Promise<IdentityFile | undefined> {
  const read = await readInside(name, workspace, MAX_IDENTITY_FILE_LENGTH);
  switch (read.kind) {
    case "absent":
      return undefined;
    case "refused":
      return { name, text: "", problem: `${name} ${read.reason}` };
    case "read": {
      const text = read.text.trim();
      if (!read.isCut) return text === "" ? undefined : { name, text };
      const problem = `${name} has ${read.size} bytes; only its first ${MAX_IDENTITY_FILE_LENGTH} characters are used`;
      return { name, text: `${text}\n(truncated)`, problem };
    }
  }
}

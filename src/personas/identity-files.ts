import { readInside } from "./read-inside.ts";

/** Files of the workspace that tell an agent who it is and how to work, in this order. */
const IDENTITY_FILES = ["AGENTS.md", "SOUL.md", "IDENTITY.md", "USER.md", "MEMORY.md"] as const;

/** What is used of each of them, in characters. No more than that is read. */
export const MAX_IDENTITY_FILE_LENGTH = 20_000;

export interface IdentityFile {
  readonly name: string;
  /** Empty where nothing of it is used. */
  readonly text: string;
  /** What is wrong with it, as a sentence without a full stop. */
  readonly problem?: string;
}

/** Those that are there. A change counts from the next time they are read. */
export async function readIdentityFiles(workspace: string): Promise<IdentityFile[]> {
  const files = await Promise.all(IDENTITY_FILES.map((name) => readIdentityFile(name, workspace)));
  return files.filter((file) => file !== undefined);
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
      return { name, text: `${text}\n(cut here)`, problem };
    }
  }
}

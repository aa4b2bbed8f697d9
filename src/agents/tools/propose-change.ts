/** Changes of files that need a person's agreement: what is shown of them, and that they are made as agreed. */
import { createHash } from "node:crypto";

import { compareTexts } from "../../model/compare-texts.ts";
import { hasCode } from "../../model/error-code.ts";
import { CortexError } from "../../model/errors.ts";
import type { Proposal, ToolContext } from "../../model/tool.ts";
import type { ConfinedPath } from "./confine.ts";
import { controlFile, controlledFolders } from "./control-file.ts";
import { openFile } from "./open-inside.ts";
import { readAtMost } from "./read-bytes.ts";

/** Larger files are not compared, and not changed where that needs an agreement. */
const MAX_PROPOSED_BYTES = 10 * 1024 * 1024;

/** Why a person must agree to a change of a file in a session with text from others. Undefined: not a control file. */
export async function asksToChange(place: ConfinedPath, context: ToolContext): Promise<string | undefined> {
  const kind = controlFile(place.path, await controlledFolders(context));
  return kind === undefined ? undefined : `${WHY[kind]}, and this conversation contains text from others`;
}

const WHY = {
  identity: "agents follow what this file says",
  runner: "programs run because of this file",
  folder: "this is a control file",
} as const;

/** The change with the digest of the file as it is. `after`: the content that it is to have. */
export async function proposeChange(
  place: ConfinedPath,
  after: (before: Buffer) => Promise<Buffer> | Buffer,
  { signal }: ToolContext,
): Promise<Proposal> {
  const original = await readWhole(place, signal);
  const before = original ?? Buffer.alloc(0);
  const proposed = await after(before);
  const shown = await compareTexts(place.shown, before.toString(), proposed.toString());
  return {
    files: [{ path: place.shown, sha256: digestOf(original) }],
    ...(shown.kind === "diff" ? { diff: shown.diff } : {}),
  };
}

/**
 * In a session with text from others, a control file is only changed as a person has agreed. The path and the content
 * are checked here again, because they may have changed since the call was judged.
 */
export async function requireAgreement(place: ConfinedPath, context: ToolContext): Promise<void> {
  const { agreed, signal } = context;
  if (agreed === undefined) return;
  if (controlFile(place.path, await controlledFolders(context)) === undefined) return;
  const file = agreed.find(({ path }) => path === place.shown);
  if (file !== undefined && file.sha256 === digestOf(await readWhole(place, signal))) return;
  throw new CortexError("path_forbidden", `${JSON.stringify(place.shown)} is a control file`, {
    hint: "It changed while a person decided. Repeat the call to ask again.",
  });
}

/** Undefined: there is no such file. */
async function readWhole(place: ConfinedPath, signal: AbortSignal): Promise<Buffer | undefined> {
  const bytes = await readThere(place, signal);
  if (bytes !== "too large") return bytes;
  throw new CortexError(
    "tool_failed",
    `${JSON.stringify(place.shown)} is larger than ${MAX_PROPOSED_BYTES} bytes`,
    {
      hint: "Ask the owner to change it.",
    },
  );
}

async function readThere(
  place: ConfinedPath,
  signal: AbortSignal,
): Promise<Buffer | "too large" | undefined> {
  try {
    await using handle = await openFile(place);
    return (await readAtMost(handle, MAX_PROPOSED_BYTES, signal)) ?? "too large";
  } catch (error) {
    if (hasCode(error, "ENOENT", "ENOTDIR")) return undefined;
    throw error;
  }
}

function digestOf(content: Buffer | undefined): string | null {
  return content === undefined ? null : createHash("sha256").update(content).digest("hex");
}

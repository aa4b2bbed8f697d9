/** Files that a turn adds to its answer. They are in the results of its calls, so that a run that continues finds them. */
import type { OutgoingFile } from "./extras.ts";
import type { ToolCall } from "./message.ts";

export const ATTACH_TOOL = "attach";

/** In order, each once. */
export function attachedTo(calls: readonly ToolCall[]): readonly OutgoingFile[] {
  const files = calls.filter(({ tool, status }) => tool === ATTACH_TOOL && status === "ok").flatMap(filesOf);
  return [...new Map(files.map((file) => [JSON.stringify([file.sha256, file.name]), file])).values()];
}

function filesOf({ result }: ToolCall): readonly OutgoingFile[] {
  const { details } = (result ?? {}) as { readonly details?: { readonly files?: readonly OutgoingFile[] } };
  return details?.files ?? [];
}

/** The hook that stands for an explicit target: whoever sent the message has said where it goes. */
export const DIRECT_HOOK = "direct";
/** The hook that stands for the edit of a message: its new text goes where the message went. */
export const EDIT_HOOK = "edit";

/** The hook that stands for what an agent is told with its next turn: a reaction, a deleted message. */
export const REMARK_HOOK = "remark";

/** In which order the hooks of one event count: an explicit target first, then by name. */
export function compareHooks(a: string, b: string): number {
  if (a === b) return 0;
  if (a === DIRECT_HOOK || b === DIRECT_HOOK) return a === DIRECT_HOOK ? -1 : 1;
  return a < b ? -1 : 1;
}

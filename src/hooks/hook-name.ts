import { CortexError } from "../model/errors.ts";

/** The name of a hook is that of its file without the ending, so it must be one on every system. */
export const HOOK_NAME = /^[a-z0-9][a-z0-9_-]{0,63}$/;

export function parseHookName(text: string): string {
  if (HOOK_NAME.test(text)) return text;
  throw new CortexError("id_invalid", `${JSON.stringify(text.slice(0, 80))} is not a name for a hook`, {
    hint: "A name has 1 to 64 lower-case letters, digits, - and _, such as `school-mails`.",
  });
}

/** Those that take what nobody else wants. A hook with `exclusive: true` silences them for its event. */
export function isDefaultHook(name: string): boolean {
  return name.startsWith("default-");
}

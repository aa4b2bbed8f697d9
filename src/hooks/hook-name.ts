import { CortexError } from "../model/errors.ts";

/** A hook is named after its file without the extension, so its name must be valid on every system. */
export const HOOK_NAME = /^[a-z0-9][a-z0-9_-]{0,63}$/;

export function parseHookName(text: string): string {
  if (HOOK_NAME.test(text)) return text;
  throw new CortexError("id_invalid", `Invalid hook name ${JSON.stringify(text.slice(0, 80))}`, {
    hint: "Use 1 to 64 lower-case letters, digits, - and _, for example `school-emails`.",
  });
}

/** Default hooks take what no other hook wants. One with `exclusive: true` silences them for its event. */
export function isDefaultHook(name: string): boolean {
  return name.startsWith("default-");
}

export function hookUnknown(name: string): CortexError {
  return new CortexError("hook_unknown", `Unknown hook "${name.slice(0, 80)}"`, {
    hint: "Run `cortex hooks` to list hooks. New files load only while a server is running.",
  });
}

/** As encode.ts, for hooks. */
import { CortexError } from "../../model/errors.ts";
import { canonicalJson, type Json } from "../../model/json.ts";
import {
  type HookFile,
  MAX_HOOK_RESULT_BYTES,
  MAX_HOOK_TEXT_LENGTH,
  type NewHookRun,
  type SilentHookRun,
} from "../store.ts";
import { encodeDispatch } from "./encode.ts";
import type { Input } from "./operations.ts";

type HookFileInput = Input<"syncHooks">["found"][number];
type RunInput = Input<"recordHookRun">["run"];

export function encodeHookFiles(found: readonly HookFile[]): HookFileInput[] {
  const names = new Set<string>();
  for (const { name } of found) {
    if (names.has(name)) throw namedTwice(name);
    names.add(name);
  }
  return found.map((file) => ({
    name: file.name,
    title: cut(file.title ?? file.name),
    description: cut(file.description ?? ""),
    mode: file.mode,
    digest: file.digest,
    filter: encodeShown(file.filter),
    origin: file.origin ?? "person",
    startsDisabled: Number(file.startsDisabled ?? false),
    error: file.error === undefined ? null : cut(file.error),
  }));
}

export function encodeHookRun(
  run: SilentHookRun & Partial<Pick<NewHookRun, "fired" | "silences" | "yields">>,
): RunInput {
  return {
    hook: run.hook,
    fired: Number(run.fired ?? false),
    result: encodeShown(run.result),
    error: run.error === undefined ? null : cut(run.error),
    disable: Number(run.disable ?? false),
    silences: run.silences ?? [],
    yields: Number(run.yields ?? false),
    llmCalls: run.llmCalls ?? 0,
    costUsd: run.costUsd ?? null,
    startedMs: run.startedAtMs,
    endedMs: run.endedAtMs,
    skipped: Number(run.wasSkipped ?? false),
  };
}

/** A dispatch is known by the hook that asked for it. */
export function encodeFiring({ hook, dispatch }: NewHookRun): Input<"recordHookRun">["dispatch"] {
  return dispatch === undefined ? undefined : encodeDispatch({ ...dispatch, hook });
}

function cut(text: string): string {
  return text.slice(0, MAX_HOOK_TEXT_LENGTH);
}

/** Only shown to people, so too large a value must not keep an event from being judged or a hook from loading. */
function encodeShown(value: Json | undefined): string | null {
  if (value === undefined) return null;
  const text = canonicalJson(value);
  const bytes = Buffer.byteLength(text);
  return bytes <= MAX_HOOK_RESULT_BYTES ? text : canonicalJson({ omittedBytes: bytes });
}

function namedTwice(name: string): CortexError {
  return new CortexError("request_invalid", `Duplicate hook "${name}"`, {
    hint: "A hook is named after its file, without the extension: rename one of the files.",
  });
}

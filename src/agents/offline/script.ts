/**
 * A script for the offline model: which messages it recognises, and what it then says and does. It is
 * written by hand, so everything that is wrong with it is said at once, with the place.
 *
 * Loaded only where a profile has a script: what it needs to read one is not small.
 */
import { parseDocument } from "yaml";
import { z } from "zod";

import { CortexError } from "../../model/errors.ts";
import { parseAgentId } from "../../model/ids.ts";
import { canonicalJson, type Json, MAX_JSON_DEPTH } from "../../model/json.ts";
import { isPlainYaml } from "../../model/yaml-keys.ts";
import { ownerPatterns } from "../../patterns/matcher.ts";
import { MAX_ARGUMENTS_DEPTH, MAX_CALLS } from "./draft.ts";
import { FAULT_KINDS } from "./fault.ts";
import { shorten } from "./shorten.ts";

export const MAX_SCRIPT_BYTES = 256 * 1024;
export const MAX_PATTERN_LENGTH = 1000;
export const MAX_DELAY_MS = 600_000;
const MAX_FAULT_TIMES = 1000;
const MAX_PROBLEMS = 20;
const MAX_VALUE_LENGTH = 60;

const Args = z.record(z.string(), z.unknown()).transform(attempt(plainJson));

const Call = z.strictObject({ tool: z.string().min(1).max(128), args: Args.default({}) });

const Fault = z.preprocess(
  (value) => (typeof value === "object" && value !== null ? value : { kind: value }),
  z.strictObject({
    // YAML reads 429 as a number.
    kind: z.preprocess((value) => (typeof value === "number" ? String(value) : value), z.enum(FAULT_KINDS)),
    times: z.int().min(1).max(MAX_FAULT_TIMES).optional(),
    retryAfterMs: z.int().min(0).max(MAX_DELAY_MS).optional(),
  }),
);

const Play = z
  .strictObject({
    say: z.string().default(""),
    calls: z.array(Call).max(MAX_CALLS).default([]),
    delayMs: z.int().min(0).max(MAX_DELAY_MS).default(0),
    fault: Fault.optional(),
  })
  .superRefine(({ say, calls, fault }, context) => {
    const needed = fault?.kind === "duplicate-ids" ? 2 : fault?.kind === "unknown-tool" ? 1 : 0;
    if (calls.length < needed)
      context.addIssue(`the fault "${fault!.kind}" needs ${needed} or more \`calls\``);
    if (say === "" && calls.length === 0 && fault === undefined) {
      context.addIssue("it needs `say`, `calls` or `fault`");
    }
  });

const Entry = z.strictObject({
  when: z.string().min(1).max(MAX_PATTERN_LENGTH).superRefine(checkPattern),
  agent: z.string().transform(attempt(parseAgentId)).optional(),
  plays: z.array(Play).min(1),
});

const Entries = z.array(Entry, { error: "a script is a list of entries, each with `when` and `plays`" });

export type Play = z.output<typeof Play>;
export type Script = z.output<typeof Entries>;

/** Reads a script. Throws `script_invalid` with all that is wrong with it. */
export async function parseScript(text: string, file: string): Promise<Script> {
  const size = Buffer.byteLength(text);
  if (size > MAX_SCRIPT_BYTES) {
    throw scriptInvalid(file, [`it has ${size} bytes, and ${MAX_SCRIPT_BYTES} are allowed`]);
  }
  const value = await readYaml(text, file);
  const parsed = await Entries.safeParseAsync(value);
  if (parsed.success) return parsed.data;
  throw scriptInvalid(
    file,
    parsed.error.issues.map((issue) => describe(issue, value)),
  );
}

export function scriptInvalid(file: string, problems: readonly string[], cause?: unknown): CortexError {
  const shown = problems.slice(0, MAX_PROBLEMS);
  if (shown.length < problems.length) shown.push(`and ${problems.length - shown.length} more`);
  const what = shown.length === 1 ? ` ${shown[0]}` : shown.map((problem) => `\n- ${problem}`).join("");
  return new CortexError("script_invalid", `The script ${file} cannot be played:${what}`, {
    hint: "Correct the file: the next message reads it again. docs/offline.md shows what a script looks like.",
    cause,
  });
}

async function readYaml(text: string, file: string): Promise<unknown> {
  try {
    const document = parseDocument(text);
    if (document.errors.length > 0) {
      const problems = document.errors.map(({ message }) => message.split("\n")[0]!.replace(/:$/, ""));
      throw scriptInvalid(file, problems);
    }
    if (!(await isPlainYaml(document)))
      throw scriptInvalid(file, ["aliases (`*name`) and keys that are no texts are not allowed"]);
    return document.toJS({ maxAliasCount: 0 });
  } catch (cause) {
    if (cause instanceof CortexError) throw cause;
    throw scriptInvalid(file, ["its YAML is nested too deep"], cause);
  }
}

function plainJson(args: Record<string, unknown>): Json {
  canonicalJson(args, MAX_JSON_DEPTH - MAX_ARGUMENTS_DEPTH);
  return JSON.parse(JSON.stringify(args)) as Json;
}

async function checkPattern(pattern: string, context: z.RefinementCtx): Promise<void> {
  try {
    await ownerPatterns.check([pattern]);
  } catch (error) {
    if (!(error instanceof CortexError)) throw error;
    context.addIssue(error.message);
  }
}

/** Makes what a function throws a problem of the value that it was given. */
function attempt<In, Out>(make: (value: In) => Out): (value: In, context: z.RefinementCtx) => Out {
  return (value, context) => {
    try {
      return make(value);
    } catch (error) {
      context.addIssue((error as Error).message);
      return z.NEVER;
    }
  };
}

const PLACES: Readonly<Record<string, string>> = { plays: "play", calls: "call" };

/** `entry 2, play 1, call 3, args: …`: people count from one. */
function describe({ path, message }: z.core.$ZodIssue, root: unknown): string {
  const place = path.flatMap((key, at) => {
    if (typeof key === "number") return [`${at === 0 ? "entry" : PLACES[String(path[at - 1])]} ${key + 1}`];
    return typeof path[at + 1] === "number" ? [] : [String(key)];
  });
  const value = path.reduce<unknown>((within, key) => (within as Record<PropertyKey, unknown>)?.[key], root);
  const given =
    typeof value === "object" || value === undefined
      ? ""
      : ` (it is ${shorten(JSON.stringify(value), MAX_VALUE_LENGTH)})`;
  return `${place.length === 0 ? "" : `${place.join(", ")}: `}${message}${given}`;
}

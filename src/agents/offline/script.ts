/**
 * A script for the offline model: which messages it recognizes, and what it then says and does. Scripts are written by
 * hand, so all problems are reported at once, each with its place.
 *
 * Loaded only if a profile has a script, because the parsers are not small.
 */
import { parseDocument } from "yaml";
import { z } from "zod";
import type { BigIntStats } from "node:fs";
import { readFile, stat } from "node:fs/promises";

import { CortexError, errorText } from "../../model/errors.ts";
import { parseAgentId } from "../../model/ids.ts";
import { canonicalJson, type Json, MAX_JSON_DEPTH } from "../../model/json.ts";
import { isPlainYaml } from "../../model/yaml-keys.ts";
import { ownerPatterns } from "../../patterns/matcher.ts";
import { truncate } from "../../model/truncate.ts";
import { MAX_ARGUMENTS_DEPTH } from "../agent.ts";
import { FAULT_KINDS } from "./fault.ts";
import { MAX_CALLS } from "./tool-lines.ts";

export const MAX_SCRIPT_BYTES = 256 * 1024;
export const MAX_WHEN_LENGTH = 1000;
export const MAX_PLAY_DELAY_MS = 600_000;
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
    retryAfterMs: z.int().min(0).max(MAX_PLAY_DELAY_MS).optional(),
  }),
);

const Play = z
  .strictObject({
    say: z.string().default(""),
    calls: z.array(Call).max(MAX_CALLS).default([]),
    delayMs: z.int().min(0).max(MAX_PLAY_DELAY_MS).default(0),
    fault: Fault.optional(),
  })
  .superRefine(({ say, calls, fault }, context) => {
    const needed = fault?.kind === "duplicate-ids" ? 2 : fault?.kind === "unknown-tool" ? 1 : 0;
    if (fault !== undefined && calls.length < needed)
      context.addIssue(`the fault "${fault.kind}" needs ${needed} or more \`calls\``);
    if (say === "" && calls.length === 0 && fault === undefined)
      context.addIssue("it needs `say`, `calls` or `fault`");
  });

const Entry = z.strictObject({
  when: z.string().min(1).max(MAX_WHEN_LENGTH).superRefine(checkPattern),
  agent: z.string().transform(attempt(parseAgentId)).optional(),
  plays: z.array(Play).min(1),
});

const Entries = z.array(Entry, { error: "expected a list of entries, each with `when` and `plays`" });

export type Play = z.output<typeof Play>;
export type Script = z.output<typeof Entries>;

/** Parses a script. Throws `script_invalid` with all its problems. */
export async function parseScript(text: string, file: string): Promise<Script> {
  const size = Buffer.byteLength(text);
  if (size > MAX_SCRIPT_BYTES) {
    throw tooLarge(file, size);
  }
  const value = await readYaml(text, file);
  const parsed = await Entries.safeParseAsync(value);
  if (parsed.success) return parsed.data;
  throw scriptInvalid(
    file,
    parsed.error.issues.map((issue) => describe(issue, value)),
  );
}

function tooLarge(file: string, bytes: number | bigint): CortexError {
  return scriptInvalid(file, [`it has ${bytes} bytes (limit ${MAX_SCRIPT_BYTES})`]);
}

function scriptInvalid(file: string, problems: readonly string[], cause?: unknown): CortexError {
  const shown = problems.slice(0, MAX_PROBLEMS);
  if (shown.length < problems.length) shown.push(`and ${problems.length - shown.length} more`);
  const what = shown.length === 1 ? ` ${shown[0]}` : shown.map((problem) => `\n- ${problem}`).join("");
  return new CortexError("script_invalid", `Invalid script ${file}:${what}`, {
    hint: "Fix the file; it is reread on the next message. docs/offline.md describes the format.",
    cause,
  });
}

async function readYaml(text: string, file: string): Promise<unknown> {
  try {
    const document = parseDocument(text);
    if (document.errors.length > 0) {
      const problems = document.errors.map(({ message }) => message.replace(/:?\n[^]*$|:$/, ""));
      throw scriptInvalid(file, problems);
    }
    if (!(await isPlainYaml(document)))
      throw scriptInvalid(file, ["aliases (`*name`) and keys that are not strings are not allowed"]);
    return document.toJS({ maxAliasCount: 0 });
  } catch (cause) {
    if (cause instanceof CortexError) throw cause;
    throw scriptInvalid(file, ["its YAML is nested too deeply"], cause);
  }
}

function plainJson(args: Record<string, unknown>): Json {
  canonicalJson(args, MAX_JSON_DEPTH - MAX_ARGUMENTS_DEPTH);
  const json: Json = JSON.parse(JSON.stringify(args));
  return json;
}

async function checkPattern(pattern: string, context: z.RefinementCtx): Promise<void> {
  try {
    await ownerPatterns.check([pattern]);
  } catch (error) {
    if (!(error instanceof CortexError)) throw error;
    context.addIssue(error.message);
  }
}

/** Turns an error of a function into an issue of the value it received. */
function attempt<In, Out>(make: (value: In) => Out): (value: In, context: z.RefinementCtx) => Out {
  return (value, context) => {
    try {
      return make(value);
    } catch (error) {
      context.addIssue(errorText(error));
      return z.NEVER;
    }
  };
}

const PLACES: Readonly<Record<string, string>> = { plays: "play", calls: "call" };

/** `entry 2, play 1, call 3, args: …`, counted from one. */
function describe({ path, message }: z.core.$ZodIssue, root: unknown): string {
  const place = path.flatMap((key, at) => {
    if (typeof key === "number") return [`${at === 0 ? "entry" : PLACES[String(path[at - 1])]} ${key + 1}`];
    return typeof path[at + 1] === "number" ? [] : [String(key)];
  });
  const value = path.reduce<unknown>((within, key) => (within as Record<PropertyKey, unknown>)?.[key], root);
  const given =
    typeof value === "object" || value === undefined
      ? ""
      : ` (got ${truncate(JSON.stringify(value), MAX_VALUE_LENGTH)})`;
  return `${place.length === 0 ? "" : `${place.join(", ")}: `}${message}${given}`;
}

/** How many parsed scripts are cached. The oldest is dropped first. */
export const MAX_SCRIPTS_KEPT = 32;

/** Reads scripts and caches each until its file changes, so a demo can be edited while it runs. */
export function createScriptReader(): (file: string) => Promise<Script> {
  const kept = new Map<string, { readonly version: string; readonly script: Script }>();
  return async (file) => {
    const unreadable = (cause: unknown): never => {
      throw scriptInvalid(file, ["the file cannot be read"], cause);
    };
    const version = versionOf(file, await stat(file, { bigint: true }).catch(unreadable));
    const known = kept.get(file);
    if (known?.version === version) return known.script;

    // A change after the version was read only means that the file is read once more.
    const script = await parseScript(await readFile(file, "utf8").catch(unreadable), file);
    kept.delete(file);
    kept.set(file, { version, script });
    for (const oldest of kept.keys()) {
      if (kept.size <= MAX_SCRIPTS_KEPT) break;
      kept.delete(oldest);
    }
    return script;
  };
}

function versionOf(file: string, found: BigIntStats): string {
  if (!found.isFile()) throw scriptInvalid(file, ["it is not a file"]);
  if (found.size > MAX_SCRIPT_BYTES) throw tooLarge(file, found.size);
  return `${found.ino} ${found.size} ${found.mtimeNs}`;
}

/**
 * Changes variables in `config/.env`, which only its owner can read. Other lines stay as they are.
 */
import { join } from "node:path";
import { parseEnv } from "node:util";

import { CortexError } from "../model/errors.ts";
import { MAX_FILE_BYTES, readText } from "./json-file.ts";
import { configFolder } from "./read.ts";
import { rewriteFile } from "./rewrite-file.ts";

const OWNER_ONLY = 0o600;

/** What a variable is to become, and what it was when that was decided. Undefined: not there. */
export interface VariableChange {
  readonly name: string;
  readonly before: string | undefined;
  readonly after: string | undefined;
}

/** All or nothing. Throws `state_conflict` if a variable is not what it was, and what `rewriteFile` throws. */
export async function changeVariables(home: string, changes: readonly VariableChange[]): Promise<void> {
  if (changes.length === 0) return;
  const folder = configFolder(home);
  const compose = async () => {
    const file = await readText(folder, ".env", { isSecret: true });
    if (file !== undefined && "problem" in file) throw unreadable(file.problem.message, file.problem.hint);
    const text = changes.reduce((text, change) => changed(text, change), file?.text ?? "");
    if (Buffer.byteLength(text) > MAX_FILE_BYTES) throw unreadable("it would be too large", "Shorten it.");
    return { text, result: undefined };
  };
  await rewriteFile(join(folder, ".env"), compose, { mode: OWNER_ONLY });
}

function changed(text: string, { name, before, after }: VariableChange): string {
  if (variablesOf(text)[name] !== before) throw changedMeanwhile(name);
  const next = after === undefined ? withoutVariable(text, name) : withVariable(text, name, after);
  const { [name]: read, ...rest } = variablesOf(next);
  const { [name]: _, ...others } = variablesOf(text);
  // The file is read by Node, whose rules for quotes are its own: what was not meant to change must not have.
  if (read !== after || JSON.stringify(rest) !== JSON.stringify(others)) throw unwritableValue(name);
  return next;
}

function variablesOf(text: string): Readonly<Record<string, string | undefined>> {
  return parseEnv(text);
}

/** Replaces the lines of a variable, or adds one at the end. */
function withVariable(text: string, name: string, value: string): string {
  const line = `${name}=${quoted(name, value)}`;
  const entries = entriesOf(text, name);
  const last = entries.at(-1);
  if (last !== undefined) return text.slice(0, last.from) + line + text.slice(last.to);
  const newline = text.includes("\r\n") ? "\r\n" : "\n";
  return `${text}${text === "" || text.endsWith("\n") ? "" : newline}${line}${newline}`;
}

function withoutVariable(text: string, name: string): string {
  return entriesOf(text, name).reduceRight((rest, { from, to }) => {
    const end = /\r?\n/y;
    end.lastIndex = to;
    return rest.slice(0, from) + rest.slice(to + (end.exec(rest)?.[0].length ?? 0));
  }, text);
}

/** An entry from the beginning of its line; a quoted value may span several lines. The last one of a name counts. */
function entriesOf(text: string, name: string): { from: number; to: number }[] {
  const entry = /^[ \t]*(?:export[ \t]+)?([\w.-]+)[ \t]*=[ \t]*(?:"[^"]*"|'[^']*'|`[^`]*`|)[^\r\n]*/gm;
  return Array.from(text.matchAll(entry))
    .filter(([, named]) => named === name)
    .map(({ index, 0: line }) => ({ from: index, to: index + line.length }));
}

const PLAIN = /^[\w.:/+=@%,~-]+$/;
const QUOTES = ["'", "`", '"'];

function quoted(name: string, value: string): string {
  if (PLAIN.test(value)) return value;
  const quote = QUOTES.find((each) => !value.includes(each));
  if (quote === undefined) throw unwritableValue(name);
  return quote + value + quote;
}

function changedMeanwhile(name: string): CortexError {
  return new CortexError("state_conflict", `${name} was changed in config/.env by another program`, {
    hint: "Nothing was written. Run the command again.",
  });
}

function unwritableValue(name: string): CortexError {
  return new CortexError("config_invalid", `The value of ${name} cannot be written to config/.env`, {
    hint: "It has quotes of all kinds, or the file has invalid lines. Set it in the environment of Cortex.",
  });
}

function unreadable(problem: string, hint: string): CortexError {
  return new CortexError("config_invalid", `Cannot change config/.env: ${problem}`, { hint });
}

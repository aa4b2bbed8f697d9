/**
 * Reads one JSON file of the home, with comments and trailing commas, and records the position of each value.
 * Everything wrong with the file is a problem in the result, never an exception: the caller reports the problems of
 * all files together.
 */
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { createScanner, type Node, type ParseError, parseTree, printParseErrorCode } from "jsonc-parser";
import { codeOf } from "../model/error-code.ts";
import { CortexError } from "../model/errors.ts";
import { MAX_JSON_DEPTH } from "../model/json.ts";
import { readMountedBytes } from "../model/private-file.ts";
import { formatPath, type Path, type Problem } from "./problem.ts";

export const MAX_FILE_BYTES = 1024 * 1024;

export interface JsonFile {
  readonly name: string;
  /** An empty object if the file is missing or unreadable. */
  readonly value: unknown;
  readonly problems: readonly Problem[];
  /** The position of a value or its key, from 1. Undefined: not in the file. */
  position(path: Path, at?: "key" | "value"): TextPosition | undefined;
}

export interface TextPosition {
  readonly line: number;
  readonly column: number;
}

/** Undefined: no such file. */
export type FileText = { readonly text: string } | { readonly problem: Problem } | undefined;

/** Refuses a secret file that another user owns, or a link to a file that others can write. */
export async function readText(
  folder: string,
  name: string,
  { isSecret = false }: { readonly isSecret?: boolean } = {},
): Promise<FileText> {
  const path = join(folder, name);
  const problem = (message: string, hint: string): FileText => ({ problem: whole(name, message, hint) });
  try {
    const found = await stat(path);
    if (!found.isFile()) return problem("not a file", "Replace it with a file, or remove it.");
    if (found.size > MAX_FILE_BYTES) {
      const message = `${found.size} bytes exceed the limit of ${MAX_FILE_BYTES}`;
      return problem(message, "Move long texts to separate files.");
    }
    const decoder = new TextDecoder("utf-8", { fatal: true }); // drops a byte order mark
    return { text: decoder.decode(isSecret ? readMountedBytes(path) : await readFile(path)) };
  } catch (cause) {
    if (cause instanceof CortexError) return problem(cause.message, cause.hint);
    const code = codeOf(cause);
    if (code === "ENOENT") return undefined;
    if (code === "ERR_ENCODING_INVALID_ENCODED_DATA") {
      return problem("not valid UTF-8", "Save it as UTF-8.");
    }
    return problem(
      `cannot read it (${code ?? String(cause)})`,
      "Check the permissions of the file and its folder.",
    );
  }
}

export function parseJsonFile(name: string, file: FileText): JsonFile {
  if (file === undefined) return emptyFile(name, []);
  if ("problem" in file) return emptyFile(name, [file.problem]);
  const { text } = file;
  if (isTooDeep(text)) {
    return emptyFile(name, [
      whole(name, `nested more than ${MAX_JSON_DEPTH} levels deep`, "Reduce the nesting."),
    ]);
  }
  const locate = locator(text);
  const errors: ParseError[] = [];
  const tree = parseTree(text, errors, { allowTrailingComma: true, allowEmptyContent: true });
  if (errors[0] !== undefined) return emptyFile(name, [syntaxProblem(name, errors[0], locate)]);
  if (tree === undefined) return emptyFile(name, []);

  const reading: Reading = { name, locate, problems: [], positions: new Map() };
  const value = readNode(tree, [], reading);
  return {
    name,
    value,
    problems: reading.problems,
    position: (path, at = "value") => reading.positions.get(formatPath(path))?.[at],
  };
}

/** `cortex.json:3:14`. */
export function formatSource(name: string, position: TextPosition | undefined): string {
  return position === undefined ? name : `${name}:${position.line}:${position.column}`;
}

function whole(name: string, message: string, hint: string): Problem {
  return { source: name, path: "", message, hint };
}

function emptyFile(name: string, problems: readonly Problem[]): JsonFile {
  return { name, value: {}, problems, position: () => undefined };
}

// Scanning does not recurse; the parser does.
function isTooDeep(text: string): boolean {
  const scanner = createScanner(text, true);
  let depth = 0;
  while (scanner.getPosition() < text.length) {
    scanner.scan();
    const character = scanner.getTokenLength() === 1 ? text.charAt(scanner.getTokenOffset()) : "";
    if ("{[".includes(character) && character !== "") depth++;
    if ("}]".includes(character) && character !== "") depth--;
    if (depth > MAX_JSON_DEPTH) return true;
  }
  return false;
}

/** Only the first: later syntax errors are guesses. */
function syntaxProblem(name: string, { error, offset }: ParseError, locate: Locate): Problem {
  return {
    source: formatSource(name, locate(offset)),
    path: "",
    message: `invalid JSON: ${SYNTAX[printParseErrorCode(error)] ?? "syntax error"}`,
    hint: "Comments and trailing commas are allowed; keys and strings need double quotes.",
  };
}

const SYNTAX: Readonly<Record<string, string>> = {
  CloseBraceExpected: "missing closing }",
  CloseBracketExpected: "missing closing ]",
  ColonExpected: "missing colon",
  CommaExpected: "missing comma",
  EndOfFileExpected: "unexpected content after the end",
  InvalidEscapeCharacter: "invalid escape sequence in a string",
  InvalidSymbol: "unquoted word",
  PropertyNameExpected: "expected a key in double quotes",
  UnexpectedEndOfComment: "unterminated comment",
  UnexpectedEndOfString: "unterminated string",
  ValueExpected: "missing value",
};

interface Reading {
  readonly name: string;
  readonly locate: Locate;
  readonly problems: Problem[];
  readonly positions: Map<string, { key: TextPosition; value: TextPosition }>;
}

function readNode(node: Node, path: Path, reading: Reading, keyOffset = node.offset): unknown {
  const position = { key: reading.locate(keyOffset), value: reading.locate(node.offset) };
  reading.positions.set(formatPath(path), position);
  const children = node.children ?? [];
  if (node.type === "array")
    return children.map((child, index) => readNode(child, [...path, index], reading));
  return node.type === "object" ? readObject(children, path, reading) : (node.value as unknown);
}

function readObject(properties: readonly Node[], path: Path, reading: Reading): Record<string, unknown> {
  const object: Record<string, unknown> = {};
  for (const { children, offset } of properties) {
    const [key, value] = children ?? [];
    if (key === undefined || value === undefined) continue; // a syntax error
    const name = String(key.value);
    const message = Object.hasOwn(object, name) ? "duplicate key" : "reserved name";
    if (Object.hasOwn(object, name) || name === "__proto__") {
      const source = formatSource(reading.name, reading.locate(offset));
      const hint = "Remove it or rename it.";
      reading.problems.push({ source, path: formatPath([...path, name]), message, hint });
    }
    if (name === "__proto__") continue; // assigning it would change what the object is
    object[name] = readNode(value, [...path, name], reading, offset);
  }
  return object;
}

type Locate = (offset: number) => TextPosition;

function locator(text: string): Locate {
  const lineStarts = [0, ...Array.from(text.matchAll(/\n/g), ({ index }) => index + 1)];
  return (offset) => {
    let low = 0;
    let high = lineStarts.length - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((lineStarts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: offset - (lineStarts[low] ?? 0) + 1 };
  };
}

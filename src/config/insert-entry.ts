/**
 * Inserts an entry into the text of a JSON file and leaves the rest unchanged: comments, order, commas, line ends.
 * jsonc-parser's own edits would separate the last entry from the comment after it.
 */
import assert from "node:assert/strict";
import { createScanner, findNodeAtLocation, type Node, parseTree } from "jsonc-parser";

/** Adds `section.name`, which must not exist. The text is a JSON object, or only comments. */
export function insertEntry(
  text: string,
  { section, name, value }: { section: string; name: string; value: object },
): string {
  const root = parseTree(text, [], { allowTrailingComma: true, allowEmptyContent: true });
  if (root === undefined) return insertEntry(text + emptyFile(text), { section, name, value });
  const style = styleOf(text);
  const holder = findNodeAtLocation(root, [section]);
  return holder === undefined
    ? insertProperty(text, root, { key: section, value: { [name]: value }, style })
    : insertProperty(text, holder, { key: name, value, style });
}

/** Sets `section.name.key`, whose entry exists. */
export function setField(
  text: string,
  { section, name, key, value }: { section: string; name: string; key: string; value: string },
): string {
  const root = parseTree(text, [], { allowTrailingComma: true, allowEmptyContent: true });
  const entry = root && findNodeAtLocation(root, [section, name]);
  assert(entry !== undefined, `there is no ${section}.${name}`);
  const old = findNodeAtLocation(entry, [key]);
  if (old === undefined) return insertProperty(text, entry, { key, value, style: styleOf(text) });
  return text.slice(0, old.offset) + JSON.stringify(value) + text.slice(old.offset + old.length);
}

interface Style {
  readonly unit: string;
  readonly newline: string;
}

function emptyFile(text: string): string {
  const { newline, unit } = styleOf(text);
  const begin = text === "" || text.endsWith("\n") ? "" : newline;
  return `${begin}{${newline}${unit}"$schema": "./cortex.schema.json"${newline}}${newline}`;
}

function insertProperty(
  text: string,
  object: Node,
  { key, value, style: { unit, newline } }: { key: string; value: object | string; style: Style },
): string {
  assert(object.type === "object", "only objects have entries");
  const close = object.offset + object.length - 1;
  const first = object.children?.[0];
  const last = object.children?.at(-1);
  const afterLast = last === undefined ? undefined : last.offset + last.length;
  const hasComma = afterLast !== undefined && commaFollows(text, afterLast, close);

  const before = text.slice(0, close).trimEnd();
  const outer = isFirstOnLine(text, close) ? indentAt(text, close) : indentAt(text, object.offset);
  const inner =
    first !== undefined && isFirstOnLine(text, first.offset) ? indentAt(text, first.offset) : outer + unit;
  const written = `${inner}${JSON.stringify(key)}: ${write(value, inner, { unit, newline })}`;

  const kept = afterLast === undefined || hasComma ? before : spliced(before, afterLast, ",");
  return `${kept}${newline}${written}${hasComma ? "," : ""}${newline}${outer}${text.slice(close)}`;
}

/** Objects over several lines, lists on one line. */
function write(value: unknown, indent: string, style: Style): string {
  if (Array.isArray(value)) return `[${value.map((item) => write(item, indent, style)).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const inner = indent + style.unit;
  const members = Object.entries(value).map(
    ([key, item]) => `${style.newline}${inner}${JSON.stringify(key)}: ${write(item, inner, style)}`,
  );
  return members.length === 0 ? "{}" : `{${members.join(",")}${style.newline}${indent}}`;
}

/** Whether a comma follows, after any comments. */
function commaFollows(text: string, from: number, to: number): boolean {
  const scanner = createScanner(text, true);
  scanner.setPosition(from);
  scanner.scan();
  return scanner.getTokenOffset() < to && text[scanner.getTokenOffset()] === ",";
}

function spliced(text: string, at: number, added: string): string {
  return text.slice(0, at) + added + text.slice(at);
}

function isFirstOnLine(text: string, offset: number): boolean {
  return text.slice(lineStart(text, offset), offset).trim() === "" && lineStart(text, offset) > 0;
}

function indentAt(text: string, offset: number): string {
  return /^[ \t]*/.exec(text.slice(lineStart(text, offset)))![0];
}

function lineStart(text: string, offset: number): number {
  return text.lastIndexOf("\n", offset - 1) + 1;
}

function styleOf(text: string): Style {
  const unit = /^(\t| {1,8})(?=["}/])/m.exec(text)?.[1] ?? "  ";
  return { unit, newline: text.includes("\r\n") ? "\r\n" : "\n" };
}

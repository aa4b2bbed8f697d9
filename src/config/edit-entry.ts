/** Changes and removes entries in the text of a JSON file, and leaves the rest as it is: comments, order, line ends. */
import { createScanner, findNodeAtLocation, getNodeValue, type Node, parseTree } from "jsonc-parser";

import { type EntryPath, insertEntry } from "./insert-entry.ts";

/** The value at this path. Undefined: there is none. */
export function entryAt(text: string, path: EntryPath): unknown {
  const node = nodeAt(text, path);
  return node === undefined ? undefined : (getNodeValue(node) as unknown);
}

/** Sets the value at this path, whether there is one or not. */
export function setEntry(text: string, path: EntryPath, value: unknown): string {
  const node = nodeAt(text, path);
  if (node === undefined) return insertEntry(text, path, value);
  return splice(text, { from: node.offset, to: node.offset + node.length }, JSON.stringify(value));
}

/** Removes the entry at this path with its name. Comments around it stay. Nothing there: the same text. */
export function removeEntry(text: string, path: EntryPath): string {
  const property = nodeAt(text, path)?.parent;
  const siblings = property?.parent?.children;
  if (property === undefined || siblings === undefined) return text;
  const end = property.offset + property.length;
  const comma = commaAfter(text, end);
  const previous = siblings[siblings.indexOf(property) - 1];
  const without = splice(text, wholeLines(text, { from: property.offset, to: comma?.to ?? end }), "");
  // The comma before the last entry goes with it.
  if (comma !== undefined || previous === undefined) return without;
  const before = commaAfter(text, previous.offset + previous.length);
  return before === undefined ? without : splice(without, before, "");
}

function nodeAt(text: string, path: EntryPath): Node | undefined {
  const root = parseTree(text, [], { allowTrailingComma: true, allowEmptyContent: true });
  return root === undefined ? undefined : findNodeAtLocation(root, [...path]);
}

interface Range {
  readonly from: number;
  readonly to: number;
}

/** The comma after a value. Comments may stand between. */
function commaAfter(text: string, from: number): Range | undefined {
  const scanner = createScanner(text, true);
  scanner.setPosition(from);
  scanner.scan();
  if (text[scanner.getTokenOffset()] !== ",") return undefined;
  return { from: scanner.getTokenOffset(), to: scanner.getTokenOffset() + 1 };
}

/** With its indentation and its line end, where nothing else is on these lines. */
function wholeLines(text: string, { from, to }: Range): Range {
  const start = text.lastIndexOf("\n", from - 1) + 1;
  const rest = /[ \t]*(?:\r?\n|$)/y;
  rest.lastIndex = to;
  const end = rest.exec(text);
  return text.slice(start, from).trim() === "" && end !== null
    ? { from: start, to: to + end[0].length }
    : { from, to };
}

function splice(text: string, { from, to }: Range, added: string): string {
  return text.slice(0, from) + added + text.slice(to);
}

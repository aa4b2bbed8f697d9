/**
 * A multi-line input editor without a terminal: a key in, a text out. The key bindings are those of shells (Emacs).
 */
import { graphemes } from "../model/text-width.ts";

export interface Editor {
  readonly text: string;
  /** The cursor: an offset into the text. */
  readonly at: number;
  /** Earlier entries, oldest first. */
  readonly history: readonly string[];
  /** The index of the shown entry; the length of the history: the text being typed. */
  readonly place: number;
  /** The text typed before browsing the history. */
  readonly typed: string;
  /** The text pasted so far: no key in it is a command. Undefined: not pasting. */
  readonly pasted: string | undefined;
  /** The last text that was cut. */
  readonly cut: string;
  /** The search term in the history. Undefined: not searching. */
  readonly search: string | undefined;
}

/** A key as Node reads it from a terminal. */
export interface Key {
  readonly sequence?: string | undefined;
  readonly name?: string | undefined;
  readonly ctrl?: boolean | undefined;
  readonly meta?: boolean | undefined;
}

interface KeyResult {
  readonly editor: Editor;
  /** An action beyond editing. */
  readonly asks?: "enter" | "complete" | "interrupt" | "leave" | "clear" | "suspend";
}

export const MAX_HISTORY = 1_000;

export function newEditor(history: readonly string[]): Editor {
  const kept = history.slice(-MAX_HISTORY);
  const nothing = { text: "", at: 0, typed: "", pasted: undefined, cut: "", search: undefined };
  return { ...nothing, history: kept, place: kept.length };
}

/** Adds the text to the history and clears the line. */
export function entered(editor: Editor): Editor {
  const { history } = editor;
  const text = editor.text.trimEnd();
  const isNew = text !== "" && text !== history.at(-1);
  return { ...newEditor(isNew ? [...history, text] : history), cut: editor.cut };
}

export function withText(editor: Editor, text: string, at: number = text.length): Editor {
  return { ...editor, text, at };
}

export function press(editor: Editor, key: Key): KeyResult {
  const found = editor.search === undefined ? undefined : pressInSearch(editor, editor.search, key);
  return found === undefined ? pressInText({ ...editor, search: undefined }, key) : { editor: found };
}

function pressInText(editor: Editor, key: Key): KeyResult {
  const { text, at, pasted } = editor;
  if (key.name === "paste-start") return { editor: { ...editor, pasted: "" } };
  if (key.name === "paste-end")
    return { editor: { ...insert(editor, harmlessPaste(pasted ?? "")), pasted: undefined } };
  if (pasted !== undefined) return { editor: { ...editor, pasted: pasted + (key.sequence ?? "") } };
  // Input typed before raw mode ends with a line feed.
  if ((key.name === "return" || key.name === "enter") && key.meta !== true) {
    if (text[at - 1] !== "\\") return { editor, asks: "enter" };
    return { editor: insert(withText(editor, text.slice(0, at - 1) + text.slice(at), at - 1), "\n") };
  }
  if (key.ctrl === true) return pressControl(editor, key.name);
  if (key.meta === true) return { editor: pressMeta(editor, key.name) };
  return key.name === "tab" ? { editor, asks: "complete" } : { editor: pressPlain(editor, key) };
}

function pressControl(editor: Editor, name = ""): KeyResult {
  const { text, at } = editor;
  switch (name) {
    case "c":
      return text === "" ? { editor, asks: "interrupt" } : { editor: withText(editor, "") };
    case "d":
      return text === "" ? { editor, asks: "leave" } : { editor: remove(editor, at, nextGrapheme(text, at)) };
    case "l":
      return { editor, asks: "clear" };
    case "z":
      return { editor, asks: "suspend" };
    case "a":
      return { editor: { ...editor, at: lineStart(text, at) } };
    case "e":
      return { editor: { ...editor, at: lineEnd(text, at) } };
    case "b":
      return { editor: { ...editor, at: previousGrapheme(text, at) } };
    case "f":
      return { editor: { ...editor, at: nextGrapheme(text, at) } };
    case "p":
      return { editor: goUp(editor) };
    case "n":
      return { editor: goDown(editor) };
    case "r":
      return { editor: { ...editor, search: "", typed: typedOf(editor) } };
    case "h":
      return { editor: remove(editor, previousGrapheme(text, at), at) };
    case "k":
      return { editor: cut(editor, at, lineEnd(text, at) === at ? at + 1 : lineEnd(text, at)) };
    case "u":
      return { editor: cut(editor, lineStart(text, at), at) };
    case "w":
      return { editor: cut(editor, previousWord(text, at), at) };
    case "y":
      return { editor: insert(editor, editor.cut) };
    case "left":
      return { editor: { ...editor, at: previousWord(text, at) } };
    case "right":
      return { editor: { ...editor, at: nextWord(text, at) } };
    default:
      return { editor };
  }
}

function pressMeta(editor: Editor, name = ""): Editor {
  const { text, at } = editor;
  switch (name) {
    case "return":
    case "enter":
      return insert(editor, "\n");
    case "b":
    case "left":
      return { ...editor, at: previousWord(text, at) };
    case "f":
    case "right":
      return { ...editor, at: nextWord(text, at) };
    case "d":
      return cut(editor, at, nextWord(text, at));
    case "backspace":
      return cut(editor, previousWord(text, at), at);
    case "escape":
      return text === "" ? editor : cut(editor, 0, text.length);
    default:
      return editor;
  }
}

function pressPlain(editor: Editor, { name = "", sequence = "" }: Key): Editor {
  const { text, at } = editor;
  switch (name) {
    case "backspace":
      return remove(editor, previousGrapheme(text, at), at);
    case "delete":
      return remove(editor, at, nextGrapheme(text, at));
    case "left":
      return { ...editor, at: previousGrapheme(text, at) };
    case "right":
      return { ...editor, at: nextGrapheme(text, at) };
    case "home":
      return { ...editor, at: lineStart(text, at) };
    case "end":
      return { ...editor, at: lineEnd(text, at) };
    case "up":
      return goUp(editor);
    case "down":
      return goDown(editor);
    default:
      return CONTROL.test(sequence) ? editor : insert(editor, sequence);
  }
}

const CONTROL = /\p{Cc}/u;

/** Terminals send a carriage return at the end of a line; other controls would move the cursor. */
function harmlessPaste(text: string): string {
  return text
    .replaceAll(/\r\n?/g, "\n")
    .replaceAll("\t", "    ")
    .replaceAll(/(?!\n)\p{Cc}/gu, "");
}

function insert(editor: Editor, added: string): Editor {
  const { text, at } = editor;
  return withText(editor, text.slice(0, at) + added + text.slice(at), at + added.length);
}

function remove(editor: Editor, from: number, to: number): Editor {
  return withText(editor, editor.text.slice(0, from) + editor.text.slice(to), from);
}

function cut(editor: Editor, from: number, to: number): Editor {
  return { ...remove(editor, from, to), cut: editor.text.slice(from, to) };
}

/** To the line above; from the first line, to the previous entry. */
function goUp(editor: Editor): Editor {
  const { text, at, history, place } = editor;
  const start = lineStart(text, at);
  if (start > 0) {
    return { ...editor, at: inLine(text, lineStart(text, start - 1), columnOf(text, at)) };
  }
  const previous = history[place - 1];
  if (previous === undefined) return editor;
  return { ...withText(editor, previous), place: place - 1, typed: typedOf(editor) };
}

function typedOf({ text, typed, history, place }: Editor): string {
  return place === history.length ? text : typed;
}

/** Handles a key during a search. Undefined: the key ends the search and edits the found text. */
function pressInSearch(
  editor: Editor,
  search: string,
  { name, sequence = "", ctrl, meta }: Key,
): Editor | undefined {
  const { history, place, typed } = editor;
  if (ctrl === true) {
    if (name === "r") return find(editor, search, place - 1);
    if (name !== "c" && name !== "g") return undefined;
    return { ...withText(editor, typed), place: history.length, search: undefined };
  }
  if (name === "escape") return { ...editor, search: undefined };
  if (name === "backspace")
    return find(editor, search.slice(0, previousGrapheme(search, search.length)), history.length);
  if (meta === true || sequence === "" || CONTROL.test(sequence)) return undefined;
  return find(editor, search + sequence, place);
}

/** Shows the last entry up to this index that contains the term; if none does, the text stays. */
function find(editor: Editor, search: string, from: number): Editor {
  const wanted = search.toLowerCase();
  const place = editor.history.findLastIndex(
    (entry, at) => at <= from && entry.toLowerCase().includes(wanted),
  );
  const entry = editor.history[place];
  if (search === "" || entry === undefined) return { ...editor, search };
  return { ...withText(editor, entry), place, search };
}

function goDown(editor: Editor): Editor {
  const { text, at, history, place, typed } = editor;
  const end = lineEnd(text, at);
  if (end < text.length) {
    return { ...editor, at: inLine(text, end + 1, columnOf(text, at)) };
  }
  if (place === history.length) return editor;
  return { ...withText(editor, history[place + 1] ?? typed), place: place + 1 };
}

/** Columns are graphemes: between two of them is the only place for a cursor. */
function columnOf(text: string, at: number): number {
  return graphemes(text.slice(lineStart(text, at), at)).length;
}

function inLine(text: string, start: number, column: number): number {
  const before = graphemes(text.slice(start, lineEnd(text, start))).slice(0, column);
  return start + before.join("").length;
}

function lineStart(text: string, at: number): number {
  return at === 0 ? 0 : text.lastIndexOf("\n", at - 1) + 1;
}

function lineEnd(text: string, at: number): number {
  const end = text.indexOf("\n", at);
  return end === -1 ? text.length : end;
}

function previousGrapheme(text: string, at: number): number {
  const before = text.slice(lineStart(text, at), at);
  return at - (graphemes(before).at(-1)?.length ?? Math.min(at, 1));
}

function nextGrapheme(text: string, at: number): number {
  const after = text.slice(at, lineEnd(text, at));
  return at + (graphemes(after)[0]?.length ?? Math.min(text.length - at, 1));
}

function previousWord(text: string, at: number): number {
  return /(?:[^\s]+\s*|\s+)$/.exec(text.slice(0, at))?.index ?? 0;
}

function nextWord(text: string, at: number): number {
  const [word = ""] = /^\s*\S*/.exec(text.slice(at)) ?? [];
  return at + word.length;
}

/**
 * A terminal for typing while output streams in. The transcript scrolls above; below it are the unfinished output, the
 * status line and the input line. These rows are redrawn in place, without erasing first, so nothing flickers. All cursor
 * handling is here.
 */
import { emitKeypressEvents } from "node:readline";

import { type Editor, entered, type Key, newEditor, press, withText } from "./editor.ts";
import type { Style } from "./print.ts";
import { type Cursor, layoutPrompt } from "./prompt-rows.ts";
import { paintRow, type TextRow, widthOfRow } from "./spans.ts";
import { cutToWidth } from "../model/text-width.ts";
import { addPiece, EMPTY_TRANSCRIPT, type Piece, type Transcript, unfinishedRows } from "./transcript.ts";

export interface TerminalEvents {
  onLine(line: string): void;
  /** Ctrl-C on an empty line. */
  onInterrupt(): void;
  /** Ctrl-D on an empty line, or the terminal is gone. */
  onEnd(): void;
  /** Tab: returns the replacement for the text before the cursor. */
  complete(text: string): Promise<Completion>;
}

export interface Completion {
  readonly text: string;
  /** The candidates, if there is more than one. */
  readonly choices: readonly string[];
}

interface TerminalOptions {
  readonly input: NodeJS.ReadStream;
  readonly output: NodeJS.WriteStream;
  readonly style: Style;
  readonly history: readonly string[];
}

const DEFAULT_COLUMNS = 80;
const DEFAULT_ROWS = 24;
/** Faster updates are drawn together. */
const FRAME_MS = 33;
const SPIN_MS = 100;

/** Synchronized update (where supported), without line wrap. */
const BEGIN = "\x1b[?2026h\x1b[?7l";
const END = "\x1b[?7h\x1b[?2026l";
const PASTES = { on: "\x1b[?2004h", off: "\x1b[?2004l" };
const CLEAR_ROW = "\x1b[K";
const CLEAR_BELOW = "\x1b[J";
const CLEAR_ALL = "\x1b[2J\x1b[H";

export class Terminal implements Disposable {
  readonly #given: TerminalOptions;
  readonly #onKey = (_: string | undefined, key: Key): void => this.#press(key);
  readonly #onResize = (): void => this.#paint();
  readonly #onGone = (): void => this.#events?.onEnd();
  readonly #onContinue = (): void => this.#enter();
  #events: TerminalEvents | undefined;
  #editor: Editor;
  #transcript: Transcript = EMPTY_TRANSCRIPT;
  /** Final rows, not yet drawn. */
  #final: TextRow[] = [];
  #prompt: TextRow = [];
  #status: (() => TextRow) | undefined;
  #hint: readonly string[] = [];
  /** The widths of the rows to be redrawn, and the cursor among them. */
  #drawn: { widths: readonly number[]; cursor: Cursor } = { widths: [], cursor: { row: 0, column: 0 } };
  #drawnAtMs = -Infinity;
  #drawnColumns = 0;
  /** Keys pressed while a completion is being looked up. */
  #early: Key[] | undefined;
  #frame: NodeJS.Timeout | undefined;
  #spin: NodeJS.Timeout | undefined;

  constructor(options: TerminalOptions) {
    this.#given = options;
    this.#editor = newEditor(options.history);
    emitKeypressEvents(options.input);
    options.input.on("keypress", this.#onKey).on("end", this.#onGone).on("error", this.#onGone);
    options.output.on("resize", this.#onResize);
    process.on("SIGTERM", this.#onGone).on("SIGCONT", this.#onContinue);
    this.#enter();
  }

  /** Sets the receiver of input events. */
  listen(events: TerminalEvents): void {
    this.#events = events;
  }

  add(...pieces: readonly Piece[]): void {
    for (const piece of pieces) {
      const { transcript, rows } = addPiece(this.#transcript, piece, this.#columns());
      this.#transcript = transcript;
      this.#final.push(...rows);
    }
    this.#paintSoon();
  }

  isTyping(): boolean {
    return this.#editor.text !== "";
  }

  /** Sets the prompt of the input line. */
  prompt(prompt: TextRow): void {
    this.#prompt = prompt;
    this.#paintSoon();
  }

  /** Sets the status line, which is called for every frame. Undefined: hidden. */
  status(status: (() => TextRow) | undefined): void {
    this.#status = status;
    clearInterval(this.#spin);
    this.#spin = status === undefined ? undefined : setInterval(() => this.#paint(), SPIN_MS);
    this.#paintSoon();
  }

  [Symbol.dispose](): void {
    const { input, output } = this.#given;
    this.#events = undefined;
    this.#early = undefined;
    this.status(undefined);
    clearTimeout(this.#frame);
    input.off("keypress", this.#onKey).off("end", this.#onGone).off("error", this.#onGone);
    output.off("resize", this.#onResize);
    process.off("SIGTERM", this.#onGone).off("SIGCONT", this.#onContinue);
    this.add({ kind: "end" });
    clearTimeout(this.#frame);
    this.#leave();
  }

  #enter(): void {
    const { input, output } = this.#given;
    input.setRawMode(true);
    input.resume();
    output.write(PASTES.on);
    this.#drawn = { widths: [], cursor: { row: 0, column: 0 } };
    this.#paint();
  }

  /** Keeps the transcript; later output begins below it. */
  #leave(): void {
    const { input, output } = this.#given;
    this.#draw([], { row: 0, column: 0 });
    output.write(PASTES.off);
    input.setRawMode(false);
    input.pause();
  }

  #press(key: Key): void {
    const cancels = key.ctrl === true && key.name === "c"; // a hanging server must not block the user
    if (this.#early !== undefined && !cancels) return void this.#early.push(key);
    this.#early = undefined;
    const { editor, asks } = press(this.#editor, key);
    this.#editor = editor;
    this.#hint = editor.search === undefined ? [] : [`history search: ${editor.search}`];
    switch (asks) {
      case "enter":
        this.#editor = entered(editor);
        this.#events?.onLine(editor.text.trimEnd());
        break;
      case "complete":
        void this.#complete();
        break;
      case "interrupt":
        this.#events?.onInterrupt();
        break;
      case "leave":
        this.#events?.onEnd();
        break;
      case "clear":
        this.#given.output.write(CLEAR_ALL);
        this.#drawn = { widths: [], cursor: { row: 0, column: 0 } };
        break;
      case "suspend":
        this.#leave();
        process.kill(process.pid, "SIGTSTP");
        return;
      case undefined:
        break;
    }
    if (editor.pasted === undefined) this.#paint();
  }

  async #complete(): Promise<void> {
    const { text, at } = this.#editor;
    const early: Key[] = (this.#early = []);
    const found = await this.#events?.complete(text.slice(0, at));
    if (this.#early !== early) return; // canceled or closed
    this.#early = undefined;
    if (found !== undefined) {
      this.#editor = withText(this.#editor, found.text + text.slice(at), found.text.length);
      this.#hint = found.choices;
    }
    this.#paint();
    for (const key of early) this.#press(key);
  }

  #paintSoon(): void {
    const waitMs = this.#drawnAtMs + FRAME_MS - performance.now();
    if (waitMs <= 0) this.#paint();
    else this.#frame ??= setTimeout(() => this.#paint(), waitMs);
  }

  #paint(): void {
    const columns = this.#columns();
    const height = this.#given.output.rows || DEFAULT_ROWS;
    const { text, at } = this.#editor;
    const status = this.#status === undefined ? [] : [this.#status()];
    const hint = hintRows(this.#hint, columns);
    const maxRows = Math.max(Math.floor(height / 2), 1);
    const typed = layoutPrompt({ prompt: this.#prompt, text, at, columns, maxRows });
    const room = height - typed.rows.length - status.length - hint.length - 1;
    const writing = unfinishedRows(this.#transcript, columns);
    const above = [...writing.slice(Math.max(writing.length - room, 0)), ...status];
    const { row, column } = typed.cursor;
    this.#draw([...above, ...typed.rows, ...hint], { row: above.length + row, column });
  }

  #draw(rows: readonly TextRow[], cursor: Cursor): void {
    clearTimeout(this.#frame);
    this.#frame = undefined;
    this.#drawnAtMs = performance.now();
    const { output, style } = this.#given;
    const columns = this.#columns();
    const painted = [...this.#final, ...rows].map((row) => fitted(row, columns, style) + CLEAR_ROW);
    const up = rowsAbove(this.#drawn, columns + 1);
    // After a resize, the terminal rejoins wrapped rows unless they are erased.
    const erase = columns === this.#drawnColumns ? "" : CLEAR_BELOW;
    this.#drawnColumns = columns;
    const back = Math.max(rows.length - 1, 0) - cursor.row;
    const lastEnd = rows.length === 0 && this.#final.length > 0 ? "\r\n" : "";
    output.write(
      `${BEGIN}${move(up, "A")}\r${erase}${painted.join("\r\n")}${lastEnd}${CLEAR_BELOW}` +
        `${move(back, "A")}\r${move(cursor.column, "C")}${END}`,
    );
    this.#final = [];
    this.#drawn = { widths: rows.map((row) => Math.min(widthOfRow(row), columns)), cursor };
  }

  /** One less than the terminal has: terminals differ in what they do after the last column. */
  #columns(): number {
    return Math.max((this.#given.output.columns || DEFAULT_COLUMNS) - 1, 1);
  }
}

/** How far up the first row is. A narrowed terminal has wrapped rows that became too long. */
function rowsAbove(
  { widths, cursor }: { readonly widths: readonly number[]; readonly cursor: Cursor },
  columns: number,
): number {
  const above = widths.slice(0, cursor.row).map((width) => Math.max(Math.ceil(width / columns), 1));
  return above.reduce((sum, height) => sum + height, Math.floor(cursor.column / columns));
}

/** Cuts a row that is still too long; it loses its styles. */
function fitted(row: TextRow, columns: number, style: Style): string {
  if (widthOfRow(row) <= columns) return paintRow(row, style);
  return cutToWidth(row.map(({ text }) => text).join(""), columns);
}

/** As many choices as fit into one row. */
function hintRows(choices: readonly string[], columns: number): TextRow[] {
  if (choices.length === 0) return [];
  return [[{ text: cutToWidth(choices.join("  "), columns), format: "dim" }]];
}

function move(by: number, direction: "A" | "C"): string {
  return by > 0 ? `\x1b[${by}${direction}` : "";
}

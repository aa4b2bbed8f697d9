/**
 * A terminal in which one types while something else is being written. The transcript scrolls above; below it stand
 * what is being written, what is going on, and the line that is being typed. Those rows are drawn again in place:
 * nothing is erased before something else is there, so nothing flickers. All that knows about cursors is here.
 */
import { emitKeypressEvents } from "node:readline";

import { type Editor, entered, type Key, newEditor, press, withText } from "./editor.ts";
import type { Style } from "./print.ts";
import { type Cursor, layoutPrompt } from "./prompt-rows.ts";
import { paintRow, type TextRow, widthOfRow } from "./spans.ts";
import { cutToWidth } from "./text-width.ts";
import { addPiece, EMPTY_TRANSCRIPT, type Piece, type Transcript, unfinishedRows } from "./transcript.ts";

export interface TerminalEvents {
  onLine(line: string): void;
  /** Ctrl-C, where nothing is being typed. */
  onInterrupt(): void;
  /** Ctrl-D, or the terminal is gone. */
  onEnd(): void;
  /** Tab: how the text before the cursor may go on. Whole texts, in place of the one before the cursor. */
  complete(text: string): Promise<Completion>;
}

export interface Completion {
  readonly text: string;
  /** What may follow, where it is more than one. */
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
/** What is written faster than this is drawn together. */
const FRAME_MS = 33;
const SPIN_MS = 100;

/** Until the second: drawn at once by terminals that can, and without a next row for what is wider than it seems. */
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
  /** Rows that are final and not drawn yet. */
  #final: TextRow[] = [];
  #prompt: TextRow = [];
  #status: (() => TextRow) | undefined;
  #hint: readonly string[] = [];
  /** How wide the rows are that may be drawn over, and where the cursor stands among them. */
  #drawn: { widths: readonly number[]; cursor: Cursor } = { widths: [], cursor: { row: 0, column: 0 } };
  #drawnAtMs = -Infinity;
  #drawnColumns = 0;
  /** Keys that were pressed while it is looked up how the text goes on. */
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

  /** Who is told of what is typed from now on. */
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

  /** What stands before the line that is being typed. */
  prompt(prompt: TextRow): void {
    this.#prompt = prompt;
    this.#paintSoon();
  }

  /** What is going on; asked for again and again. Undefined: nothing is. */
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

  /** The transcript stays, and whatever comes next begins below it. */
  #leave(): void {
    const { input, output } = this.#given;
    this.#draw([], { row: 0, column: 0 });
    output.write(PASTES.off);
    input.setRawMode(false);
    input.pause();
  }

  #press(key: Key): void {
    const givesUp = key.ctrl === true && key.name === "c"; // a server that hangs must not hold whoever types
    if (this.#early !== undefined && !givesUp) return void this.#early.push(key);
    this.#early = undefined;
    const { editor, asks } = press(this.#editor, key);
    this.#editor = editor;
    this.#hint = editor.search === undefined ? [] : [`in what was typed before: ${editor.search}`];
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
    if (this.#early !== early) return; // given up, or the terminal is left
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
    // A row that was broken is remembered as one by the terminal, which joins it again, unless it was erased.
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

  /** One less than there are: what a terminal does after its last column, terminals do not agree on. */
  #columns(): number {
    return Math.max((this.#given.output.columns || DEFAULT_COLUMNS) - 1, 1);
  }
}

/** How far up the first row is. A terminal that has become narrower has broken the rows that were too long for it. */
function rowsAbove(
  { widths, cursor }: { readonly widths: readonly number[]; readonly cursor: Cursor },
  columns: number,
): number {
  const above = widths.slice(0, cursor.row).map((width) => Math.max(Math.ceil(width / columns), 1));
  return above.reduce((sum, height) => sum + height, Math.floor(cursor.column / columns));
}

/** A row that is too long all the same is cut, and loses its colours. */
function fitted(row: TextRow, columns: number, style: Style): string {
  if (widthOfRow(row) <= columns) return paintRow(row, style);
  return cutToWidth(row.map(({ text }) => text).join(""), columns);
}

/** Choices side by side, as many as fit into one row. */
function hintRows(choices: readonly string[], columns: number): TextRow[] {
  if (choices.length === 0) return [];
  return [[{ text: cutToWidth(choices.join("  "), columns), format: "dim" }]];
}

function move(by: number, direction: "A" | "C"): string {
  return by > 0 ? `\x1b[${by}${direction}` : "";
}

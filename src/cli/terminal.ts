/**
 * A terminal in which one types while something else is being written. The transcript scrolls above; the
 * line that is being typed stays below it. All that knows about cursors is here.
 */
import { clearScreenDown, createInterface, cursorTo, type Interface, moveCursor } from "node:readline";

export interface TerminalEvents {
  onLine(line: string): void;
  /** Ctrl-C. */
  onInterrupt(): void;
  /** Ctrl-D, or the terminal is gone. */
  onEnd(): void;
}

const HISTORY_SIZE = 200;

export class Terminal implements Disposable {
  readonly #output: NodeJS.WriteStream;
  readonly #lines: Interface;
  /** The last line of the transcript, as far as it is written. It fits in one row. */
  #unfinished = "";
  #closed = false;

  constructor(input: NodeJS.ReadStream, output: NodeJS.WriteStream, events: TerminalEvents) {
    this.#output = output;
    this.#lines = createInterface({
      input,
      output,
      historySize: HISTORY_SIZE,
      removeHistoryDuplicates: true,
    });
    this.#lines.on("line", (line) => {
      this.#unfinished = ""; // what stands above the line that was entered stays where it is
      events.onLine(line);
      this.#draw();
    });
    this.#lines.on("SIGINT", () => events.onInterrupt());
    this.#lines.on("close", () => {
      if (!this.#closed) events.onEnd();
    });
  }

  /** Adds to the transcript. A text need not end with its line. */
  write(text: string): void {
    this.#erase();
    const { rows, rest } = breakRows(this.#unfinished + text, this.#output.columns || DEFAULT_COLUMNS);
    this.#output.write(rows);
    this.#unfinished = rest;
    this.#draw();
  }

  /** What stands before the line that is being typed. */
  prompt(prompt: string): void {
    this.#erase();
    this.#lines.setPrompt(prompt);
    this.#draw();
  }

  [Symbol.dispose](): void {
    this.#closed = true;
    this.#erase();
    this.#output.write(this.#unfinished === "" ? "" : `${this.#unfinished}\n`);
    this.#lines.close();
  }

  #erase(): void {
    const above = this.#unfinished === "" ? 0 : 1;
    moveCursor(this.#output, 0, -(this.#lines.getCursorPos().rows + above));
    cursorTo(this.#output, 0);
    clearScreenDown(this.#output);
  }

  #draw(): void {
    if (this.#unfinished !== "") this.#output.write(`${this.#unfinished}\n`);
    // Where readline believes to be: it would go up as many rows as the line had, and we are there already.
    (this.#lines as { prevRows?: number }).prevRows = 0;
    this.#lines.prompt(true);
  }
}

const DEFAULT_COLUMNS = 80;
const ASCII_END = 0x7f;

/**
 * Splits a text into rows that are complete and a rest that fits in one row. A character beyond ASCII
 * counts as two columns: at worst a row ends early, and none is ever longer than the terminal is wide.
 */
export function breakRows(text: string, columns: number): { rows: string; rest: string } {
  const lineEnd = text.lastIndexOf("\n") + 1;
  let rows = text.slice(0, lineEnd);
  let rest = text.slice(lineEnd);
  for (let end = fitting(rest, columns - 1); end < rest.length; end = fitting(rest, columns - 1)) {
    const space = rest.lastIndexOf(" ", end);
    const cut = space > 0 ? space : Math.max(end, 1);
    rows += `${rest.slice(0, cut)}\n`;
    rest = rest.slice(space > 0 ? cut + 1 : cut);
  }
  return { rows, rest };
}

/** How many characters fit into so many columns. */
function fitting(text: string, columns: number): number {
  let used = 0;
  let length = 0;
  for (const character of text) {
    used += character.codePointAt(0)! < ASCII_END ? 1 : 2;
    if (used > columns) return length;
    length += character.length;
  }
  return length;
}

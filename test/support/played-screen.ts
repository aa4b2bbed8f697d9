/**
 * A terminal as far as a chat uses one: what was written to it, as it would stand there. It knows the sequences that
 * we write and no other, so that one that is new is noticed; a real terminal is asked in `test/chat.test.ts`.
 */
import { PassThrough, Writable } from "node:stream";

import { widthOf } from "../../src/model/text-width.ts";

export interface PlayedScreen {
  readonly input: NodeJS.ReadStream;
  readonly output: NodeJS.WriteStream;
  readonly isRaw: () => boolean;
  /** All rows from the first that was ever written, without spaces at their ends. */
  readonly rows: () => string[];
  readonly cursor: () => { row: number; column: number };
  /** Makes it wider or narrower. Rows that are too long then are broken, as most terminals do. */
  resize(columns: number): void;
}

const ESCAPE = "\x1b";
/** What comes after the escape. */
const SEQUENCE = /^\[(\??)(\d*)([A-Za-z])/;

export function playScreen(columns: number, height: number): PlayedScreen {
  let rows: string[][] = [[]];
  let row = 0;
  let column = 0;
  let wraps = true;
  let isRaw = false;

  const output = Object.assign(
    new Writable({
      decodeStrings: false,
      write(text: string, _, done) {
        write(text);
        done();
      },
    }),
    { columns, rows: height },
  ) as unknown as NodeJS.WriteStream;
  const input = Object.assign(new PassThrough(), {
    setRawMode(mode: boolean) {
      isRaw = mode;
    },
  }) as unknown as NodeJS.ReadStream;

  function write(text: string): void {
    for (let at = 0; at < text.length;) {
      const character = String.fromCodePoint(text.codePointAt(at)!);
      at += character.length;
      if (character !== ESCAPE) {
        put(character);
        continue;
      }
      const [sequence = "", mark = "", number = "", letter = ""] =
        SEQUENCE.exec(text.slice(at, at + 12)) ?? [];
      obey(mark + letter, number);
      at += sequence.length;
    }
  }

  function obey(command: string, number: string): void {
    const count = Number(number) || 1;
    const line = rows[row]!;
    switch (command) {
      case "A":
        row = Math.max(row - count, 0, rows.length - height);
        break;
      case "C":
        column = Math.min(column + count, output.columns - 1);
        break;
      case "K":
        line.length = Math.min(line.length, column);
        break;
      case "J":
        line.length = Math.min(line.length, column);
        rows.length = row + 1;
        break;
      case "?h":
      case "?l":
        if (number === "7") wraps = command === "?h";
        break;
      default:
        throw new Error(`This terminal does not know \\e[${number}${command}`);
    }
  }

  function put(character: string): void {
    if (character === "\r") column = 0;
    else if (character === "\n") newRow();
    else {
      const width = widthOf(character);
      if (column + width > output.columns) {
        if (!wraps) column = output.columns - width;
        else {
          column = 0;
          newRow();
        }
      }
      const line = rows[row]!;
      while (line.length < column) line.push(" ");
      if (width === 0) line[column - 1] += character;
      else line.splice(column, width, character, ...Array.from({ length: width - 1 }, () => ""));
      column += width;
    }
  }

  function newRow(): void {
    row++;
    if (row === rows.length) rows.push([]);
  }

  return {
    input,
    output,
    isRaw: () => isRaw,
    rows: () => rows.map((line) => line.join("").trimEnd()),
    cursor: () => ({ row, column }),
    resize(columns) {
      const before = rows.slice(0, row).map((line) => Math.max(Math.ceil(line.length / columns), 1));
      rows = rows.flatMap((line) =>
        Array.from({ length: Math.max(Math.ceil(line.length / columns), 1) }, (_, at) =>
          line.slice(at * columns, (at + 1) * columns),
        ),
      );
      row = before.reduce((sum, height) => sum + height, Math.floor(column / columns));
      column %= columns;
      output.columns = columns;
      output.emit("resize");
    },
  };
}

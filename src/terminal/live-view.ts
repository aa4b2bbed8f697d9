/** A live view: redrawn in place in a terminal, printed again on each change elsewhere. */
import { withoutSequences } from "../model/control-sequences.ts";
import type { Printer } from "./print.ts";
import { harmlessWithColors } from "./text.ts";

interface Snapshot {
  readonly value: unknown;
  /** Changes only when something happened, not as time passes. */
  readonly key: string;
  /** The page in a terminal. */
  readonly page: () => string;
  /** The output elsewhere. */
  readonly text: () => string;
}

interface LiveViewOptions {
  /** Ages grow and timeouts pass without any notification. */
  readonly everyMs: number;
  readonly look: () => Promise<Snapshot>;
  /** Calls back when something may have changed. */
  readonly watch?: (onChange: () => void) => Promise<AsyncDisposable>;
}

/** Runs until a key or a signal ends it. */
export async function showLive(print: Printer, { everyMs, look, watch }: LiveViewOptions): Promise<void> {
  const over = Promise.withResolvers<void>();
  let isOver = false;
  const end = (): void => {
    isOver = true;
    over.resolve();
  };
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, end);
  using screen = process.stdout.isTTY && !print.json ? new Screen(end) : undefined;
  let printed: string | undefined;
  let looking: Promise<void> = Promise.resolve();

  async function show(): Promise<void> {
    const { value, key, page, text } = await look();
    if (isOver) return;
    if (screen !== undefined) return screen.draw(page());
    if (key !== printed) print.data(value, text);
    printed = key;
  }

  /** One at a time; a change during a look causes another one. */
  const showSoon = (): void => {
    looking = looking.then(show).catch(over.reject);
  };

  await using _ = await watch?.(showSoon);
  showSoon();
  const timer = setInterval(showSoon, everyMs);
  process.stdout.on("resize", showSoon);
  try {
    await over.promise;
  } finally {
    isOver = true;
    clearInterval(timer);
    process.stdout.off("resize", showSoon);
  }
}

/** Enters the alternate screen, without a cursor and without line wrap. */
const OTHER_SCREEN = "\x1b[?1049h\x1b[?25l\x1b[?7l";
const BACK = "\x1b[?7h\x1b[?25h\x1b[?1049l";
const TOP = "\x1b[H";
const CLEAR_LINE = "\x1b[K";
const CLEAR_BELOW = "\x1b[J";
const RESET = "\x1b[0m";

const DEFAULT_COLUMNS = 80;
const DEFAULT_ROWS = 24;

const ESCAPE = "\u001b";
/** q, Ctrl-C, Ctrl-D. */
const KEYS_THAT_END = new Set(["q", "Q", "\u0003", "\u0004"]);

/** The alternate screen of a terminal; the previous content is restored on close. */
class Screen implements Disposable {
  readonly #onKey: (keys: Buffer) => void;

  constructor(onEnd: () => void) {
    this.#onKey = (keys) => {
      const pressed = keys.toString(); // arrow keys begin with an escape
      if (pressed === ESCAPE || Array.from(pressed).some((key) => KEYS_THAT_END.has(key))) onEnd();
    };
    process.stdout.write(OTHER_SCREEN);
    const { stdin } = process;
    if (!stdin.isTTY) return;
    stdin.setRawMode(true); // Ctrl-C becomes a key
    stdin.on("data", this.#onKey).resume();
  }

  draw(text: string): void {
    const { columns, rows } = process.stdout; // a terminal without a size reports 0
    const size = { columns: columns || DEFAULT_COLUMNS, rows: rows || DEFAULT_ROWS };
    const lines = fitRows(harmlessWithColors(text).split("\n"), size);
    process.stdout.write(TOP + lines.map((line) => line + CLEAR_LINE).join("\r\n") + CLEAR_BELOW);
  }

  [Symbol.dispose](): void {
    const { stdin } = process;
    stdin.off("data", this.#onKey).pause();
    if (stdin.isTTY) stdin.setRawMode(false);
    process.stdout.write(BACK);
  }
}

/** Cuts lines to the screen but keeps the last one, which says how to quit. */
export function fitRows(
  lines: readonly string[],
  { columns, rows }: { columns: number; rows: number },
): string[] {
  const shown =
    lines.length <= rows
      ? lines
      : [...lines.slice(0, rows - 2), `and ${lines.length - rows + 1} more lines`, ...lines.slice(-1)];
  return shown.map((line) => fitColumns(line, columns));
}

/** A cut line loses its styles, as their end may be cut off. */
function fitColumns(line: string, columns: number): string {
  const plain = withoutSequences(line);
  if (plain.length <= columns) return line + RESET;
  return `${plain.slice(0, Math.max(columns - 1, 0)).toWellFormed()}…`;
}

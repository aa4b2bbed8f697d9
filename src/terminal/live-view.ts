/** Something as it is, and as it becomes. In a terminal it is drawn anew; elsewhere it is told again when it changes. */
import type { Printer } from "./print.ts";
import { Screen } from "./screen.ts";

interface Look {
  readonly value: unknown;
  /** The same as long as nothing has happened, however late it is. */
  readonly key: string;
  /** For a terminal. */
  readonly page: () => string;
  /** For others. */
  readonly text: () => string;
}

interface LiveViewOptions {
  /** Ages grow, and things end, without anybody who tells. */
  readonly everyMs: number;
  readonly look: () => Promise<Look>;
  /** Calls back when there may be something new. */
  readonly watch?: (onChange: () => void) => Promise<AsyncDisposable>;
}

/** Goes on until a key or a signal ends it. */
export async function showLive(print: Printer, { everyMs, look, watch }: LiveViewOptions): Promise<void> {
  const over = Promise.withResolvers<void>();
  let isOver = false;
  const end = (): void => {
    isOver = true;
    over.resolve();
  };
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, end);
  using screen = process.stdout.isTTY && !print.json ? new Screen(end) : undefined;
  let told: string | undefined;
  let looking: Promise<void> = Promise.resolve();

  async function show(): Promise<void> {
    const { value, key, page, text } = await look();
    if (isOver) return;
    if (screen !== undefined) return screen.draw(page());
    if (key !== told) print.data(value, text);
    told = key;
  }

  /** One after the other, each after what it is told of. */
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

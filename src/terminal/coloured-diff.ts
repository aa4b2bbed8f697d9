import type { Printer } from "./print.ts";
import { harmless } from "./text.ts";

/** What came in green, what went in red. */
export function colouredDiff(diff: string, { style }: Pick<Printer, "style">): string {
  return harmless(diff)
    .split("\n")
    .map((line) =>
      line.startsWith("+") ? style("green", line) : line.startsWith("-") ? style("red", line) : line,
    )
    .join("\n");
}

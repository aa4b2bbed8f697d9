/** Formats untrusted text for a terminal: removes control sequences and truncates. */
import { withoutSequences } from "../model/control-sequences.ts";

import { count } from "../model/count.ts";

export { count };

/** C0 and C1 controls except tab and newline, and bidirectional overrides, which can disguise a call as another. */
const CONTROLS = /(?![\t\n])[\p{Cc}\u202A-\u202E\u2066-\u2069]/gu;

/** Removes everything that a terminal would interpret. */
export function harmless(text: string): string {
  return withoutSequences(text).replaceAll("\r\n", "\n").replaceAll(CONTROLS, "");
}

/** Styles as `styleText` writes them, except those that hide text. */
const STYLES = new RegExp(String.raw`(\u001B\[(?:[0-47]|9|2[2-9]|3[0-79]|9[0-7])m)`);

/** Like `harmless`, but keeps styles: the last line of defense for all output, whatever ids and names it contains. */
export function harmlessWithColors(text: string): string {
  return text
    .split(STYLES)
    .map((part, at) => (at % 2 === 1 ? part : harmless(part)))
    .join("");
}

export function shorten(text: string, maxLength: number): string {
  return text.length <= maxLength ? text : `${text.slice(0, maxLength - 1).toWellFormed()}…`;
}

/** The first line that is not blank. */
export function firstLine(text: string, maxLength: number): string {
  const line = harmless(text)
    .split("\n")
    .find((candidate) => candidate.trim() !== "");
  return shorten((line ?? "").replaceAll("\t", " ").trim(), maxLength);
}

export function indent(text: string): string {
  return text.replaceAll(/^(?=.)/gm, "  ");
}

/** Aligns cells in columns; cells may be styled. The last cell of a row is not padded. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [at, cell] of row.slice(0, -1).entries())
      widths[at] = Math.max(widths[at] ?? 0, visibleLength(cell));
  }
  return rows
    .map((row) => row.map((cell, at) => (at === row.length - 1 ? cell : padded(cell, widths[at]))).join("  "))
    .map((line) => line.trimEnd())
    .join("\n");
}

function padded(cell: string, width = 0): string {
  return cell + " ".repeat(width - visibleLength(cell));
}

/** Its length without styles. */
function visibleLength(cell: string): number {
  return withoutSequences(cell).length;
}

/** Formats a time in the local time zone. */
export function moment(at: string | number): string {
  const date = new Date(at);
  const day = [date.getFullYear(), two(date.getMonth() + 1), two(date.getDate())].join("-");
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

function two(number: number): string {
  return String(number).padStart(2, "0");
}

export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1_000);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

/** Formats a file size. */
export function size(bytes: number): string {
  if (bytes < 1_024) return count(bytes, "byte");
  if (bytes < 1_024 ** 2) return `${Math.round(bytes / 1_024)} KiB`;
  if (bytes < 1_024 ** 3) return `${(bytes / 1_024 ** 2).toFixed(1)} MiB`;
  return `${(bytes / 1_024 ** 3).toFixed(1)} GiB`;
}

export function usd(amount: number): string {
  return `${amount.toFixed(4)} USD`;
}

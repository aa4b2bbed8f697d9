/**
 * Draws terminal output as an animated SVG: pages of styled text, one after another. It embeds no fonts and loads nothing;
 * each piece of text is placed at its column, whatever the font.
 */
import { graphemes, widthOf } from "../../src/model/text-width.ts";

export interface Picture {
  readonly title: string;
  readonly columns: number;
  readonly rows: number;
  /** How long each page is shown. */
  readonly pageMs: number;
}

interface Piece {
  text: string;
  readonly column: number;
  readonly classes: readonly string[];
}

const COLUMN_WIDTH = 7.8;
const ROW_HEIGHT = 18;
const PADDING = 16;
const TITLE_HEIGHT = 34;

const ESCAPE = "\u001B";
const LOOKS = new RegExp(`(${ESCAPE}\\[[\\d;]*m)`);

/** SGR codes as CSS classes, and the codes that end them. */
const BEGINS: Readonly<Record<string, string>> = {
  1: "bold",
  2: "dim",
  3: "italic",
  4: "under",
  31: "red",
  32: "green",
  33: "yellow",
  34: "blue",
  35: "magenta",
  36: "cyan",
  90: "dim",
};
const ENDS: Readonly<Record<string, readonly string[]>> = {
  0: Object.values(BEGINS),
  22: ["bold", "dim"],
  23: ["italic"],
  24: ["under"],
  39: ["red", "green", "yellow", "blue", "magenta", "cyan", "dim"],
};

/** Each page is text with escape sequences; long rows wrap as in a terminal. */
export function drawTerminal(pages: readonly string[], picture: Picture): string {
  const { title, columns, rows, pageMs } = picture;
  const width = Math.ceil(columns * COLUMN_WIDTH + 2 * PADDING);
  const height = TITLE_HEIGHT + rows * ROW_HEIGHT + PADDING;
  const drawn = pages.map((page, at) => {
    const lines = rowsOf(page, columns).slice(0, rows).map(drawRow);
    const delay = `animation-delay:${((at - pages.length) * pageMs) / 1_000}s`;
    return `<g class="page" style="${delay}">\n${lines.filter((line) => line !== "").join("\n")}\n</g>`;
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" xml:space="preserve" role="img">`,
    `<title>${escaped(title)}</title>`,
    `<style>${style(pages.length, pageMs)}</style>`,
    `<rect class="window" x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="10"/>`,
    ...["red", "yellow", "green"].map(
      (name, at) => `<circle class="${name}" cx="${20 + at * 20}" cy="18" r="6"/>`,
    ),
    `<text class="dim title" x="${width / 2}" y="22">${escaped(title)}</text>`,
    ...drawn,
    "</svg>",
    "",
  ].join("\n");
}

/** The rows of a text as uniformly styled pieces. */
export function rowsOf(text: string, columns: number): Piece[][] {
  const rows: Piece[][] = [];
  let classes: string[] = [];
  for (const line of text.split("\n")) {
    let row: Piece[] = [];
    let column = 0;
    rows.push(row);
    for (const part of line.split(LOOKS)) {
      const codes = part.startsWith(ESCAPE) ? part.slice(2, -1) : undefined;
      if (codes !== undefined) {
        classes = codes.split(";").reduce(turned, classes);
        continue;
      }
      for (const character of graphemes(part)) {
        const width = widthOf(character);
        if (column + width > columns) {
          rows.push((row = []));
          column = 0;
        }
        const last = row.at(-1);
        if (last !== undefined && last.classes === classes) last.text += character;
        else row.push({ text: character, column, classes });
        column += width;
      }
    }
  }
  return rows;
}

function turned(classes: string[], code: string): string[] {
  const ended = ENDS[code || "0"];
  if (ended !== undefined) return classes.filter((name) => !ended.includes(name));
  const begun = BEGINS[code];
  return begun === undefined || classes.includes(begun) ? classes : [...classes, begun];
}

function drawRow(pieces: readonly Piece[], at: number): string {
  const spans = pieces
    .filter(({ text }) => text.trim() !== "")
    .map(({ text, column, classes }) => {
      const before = text.length - text.trimStart().length;
      const x = PADDING + (column + before) * COLUMN_WIDTH;
      const look = classes.length === 0 ? "" : ` class="${classes.join(" ")}"`;
      const shown = text.trim();
      const length = ` textLength="${rounded(widthOf(shown) * COLUMN_WIDTH)}"`;
      return `<tspan x="${rounded(x)}"${length}${look}>${escaped(shown)}</tspan>`;
    });
  const y = TITLE_HEIGHT + (at + 1) * ROW_HEIGHT - 4;
  return spans.length === 0 ? "" : `<text y="${y}">${spans.join("")}</text>`;
}

function rounded(length: number): string {
  return String(Math.round(length * 10) / 10);
}

function escaped(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}

/** Without animation, the first page is shown. */
function style(pages: number, pageMs: number): string {
  const share = Math.floor(10_000 / pages) / 100;
  return [
    "text{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;white-space:pre}",
    colours(DARK),
    `@media(prefers-color-scheme:light){${colours(LIGHT)}}`,
    ".bold{font-weight:700}.italic{font-style:italic}.under{text-decoration:underline}.title{text-anchor:middle}",
    ".page{opacity:0}.page:first-of-type{opacity:1}",
    `.page{animation:page ${(pages * pageMs) / 1_000}s step-end infinite}`,
    `@keyframes page{0%{opacity:1}${share}%{opacity:0}100%{opacity:0}}`,
    "@media(prefers-reduced-motion:reduce){.page{animation:none}}",
  ].join("\n");
}

function colours({ ground, edge, text, ...names }: Readonly<Record<string, string>>): string {
  const classes = Object.entries(names).map(([name, colour]) => `.${name}{fill:${colour}}`);
  return [`.window{fill:${ground};stroke:${edge}}`, `text{fill:${text}}`, ...classes].join("");
}

const DARK = {
  ground: "#0d1117",
  edge: "#30363d",
  text: "#e6edf3",
  dim: "#8b949e",
  red: "#ff7b72",
  green: "#3fb950",
  yellow: "#d29922",
  blue: "#79c0ff",
  magenta: "#d2a8ff",
  cyan: "#39c5cf",
};
const LIGHT = {
  ground: "#ffffff",
  edge: "#d0d7de",
  text: "#1f2328",
  dim: "#59636e",
  red: "#cf222e",
  green: "#1a7f37",
  yellow: "#9a6700",
  blue: "#0969da",
  magenta: "#8250df",
  cyan: "#1b7c83",
};

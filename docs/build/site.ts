/** Builds a static site: it needs no server and loads nothing from other hosts. */
import { copyFileSync, cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { DOCS } from "./generate.ts";
import { titleOf } from "./index-page.ts";
import { headingsOf } from "./markdown.ts";
import { htmlFile, PAGES } from "./pages.ts";
import { renderPage } from "./render-page.ts";

const ASSETS = ["site.css", "site.js"];

export function writeSite(folder: string): void {
  const texts = new Map(PAGES.map((file) => [file, readFileSync(join(DOCS, file), "utf8")]));
  const titles = new Map([...texts].map(([file, text]) => [file, titleOf(text)]));
  for (const [file, text] of texts) {
    const path = join(folder, htmlFile(file));
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, renderPage({ file, text, titles }));
  }
  for (const asset of ASSETS) copyFileSync(join(import.meta.dirname, asset), join(folder, asset));
  for (const shown of ["examples", "images"])
    cpSync(join(DOCS, shown), join(folder, shown), { recursive: true, filter: isShown });
  writeFileSync(join(folder, "search.js"), searchIndex(texts));
}

/** Skips the scripts that draw the images. */
function isShown(path: string): boolean {
  return !path.endsWith(".ts");
}

/** Every section with its text, as a script: `file://` pages cannot fetch JSON. */
function searchIndex(texts: ReadonlyMap<string, string>): string {
  const entries = [...texts].flatMap(([file, text]) => {
    const parts = text.split(/^#{1,6} .*$/m).slice(1);
    const headings = headingsOf(text);
    // A comment in a code block looks like a heading: index such a page as one entry.
    if (parts.length !== headings.length) return [[htmlFile(file), headings[0]!.text, "", text]];
    return headings.map((heading, at) => [
      `${htmlFile(file)}#${heading.anchor}`,
      headings[0]!.text,
      heading.text.replaceAll("`", ""),
      parts[at]!.replaceAll(/[|`*]|-{3,}|\s+/g, " ")
        .replaceAll(/ {2,}/g, " ")
        .trim(),
    ]);
  });
  return `window.searchIndex = ${JSON.stringify(entries)};\n`;
}

/** Runs the demo and draws its output: `node docs/images/record.ts` updates demo.svg. */
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { stripVTControlCharacters } from "node:util";

import { drawTerminal, rowsOf } from "./terminal-svg.ts";

const COLUMNS = 104;
const ROWS = 32;
const PAGE_MS = 5_000;
const PROMPT = "\u001B[1;36m$\u001B[0m \u001B[1mcortex demo\u001B[0m\n";

const cortex = fileURLToPath(new URL("../../bin/cortex.js", import.meta.url));
const said = execFileSync(process.execPath, [cortex, "demo", "--fast"], {
  encoding: "utf8",
  env: { PATH: process.env["PATH"], FORCE_COLOR: "1", TZ: "UTC" },
});
const pages = pagesOf(`${PROMPT}${said.trimEnd()}`);
const picture = { title: "cortex demo", columns: COLUMNS, rows: ROWS, pageMs: PAGE_MS };
writeFileSync(new URL("demo.svg", import.meta.url), drawTerminal(pages, picture));

/** One page per step; two if it is longer than the window, the second one scrolled to the end. */
function pagesOf(text: string): string[] {
  const steps: string[][] = [[]];
  for (const line of text.split("\n")) {
    if (/^[2-9]\/\d /.test(stripVTControlCharacters(line))) steps.push([]);
    steps.at(-1)!.push(line);
  }
  return steps.flatMap((lines) => {
    if (rowsOf(lines.join("\n").trimEnd(), COLUMNS).length <= ROWS) return [lines.join("\n")];
    let from = 0;
    while (rowsOf(lines.slice(from).join("\n").trimEnd(), COLUMNS).length > ROWS) from++;
    return [lines.join("\n"), lines.slice(from).join("\n")];
  });
}

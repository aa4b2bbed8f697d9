/** The pages that nobody writes: those of reference, and the index. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { format } from "oxfmt";

import { cliReference } from "./cli-reference.ts";
import { configReference } from "./config-reference.ts";
import { httpReference } from "./http-reference.ts";
import { indexPage } from "./index-page.ts";
import { INDEX } from "./pages.ts";

export const DOCS = join(import.meta.dirname, "..");

const NOTE = "<!-- Written by `npm run docs`; a change here is lost. -->";

/** By file of `docs`, in the format that the other pages have. */
export async function generatePages(): Promise<ReadonlyMap<string, string>> {
  const reference = new Map([
    ["reference/cli.md", cliReference()],
    ["reference/config.md", configReference()],
    ["reference/http.md", await httpReference()],
  ]);
  const index = indexPage((file) => reference.get(file) ?? readFileSync(join(DOCS, file), "utf8"));
  const { printWidth } = JSON.parse(readFileSync(join(DOCS, "../.oxfmtrc.json"), "utf8")) as {
    printWidth: number;
  };
  const pages = [...reference, [INDEX, index] as const].map(async ([file, text]) => {
    const formatted = await format(file, `${NOTE}\n\n${text}`, { printWidth });
    if (formatted.errors.length > 0) throw new Error(`${file}: ${JSON.stringify(formatted.errors)}`);
    return [file, formatted.code] as const;
  });
  return new Map(await Promise.all(pages));
}

/** Generates the index from the list of pages. */
import { headingsOf } from "./markdown.ts";
import { SECTIONS } from "./pages.ts";

const HEAD = `# Documentation

New to Cortex? [Getting started](getting-started.md) takes five minutes and needs no key. \`npm run docs -- --site <folder>\` builds
a static site from these pages.`;

export function indexPage(read: (file: string) => string): string {
  const sections = SECTIONS.map(({ title, pages }) => {
    const lines = pages.map(([file, about]) => `- [${titleOf(read(file))}](${file}): ${about}`);
    return `## ${title}\n\n${lines.join("\n")}\n`;
  });
  return [HEAD, ...sections].join("\n\n");
}

/** The first heading of a page. */
export function titleOf(page: string): string {
  return headingsOf(page)[0]?.text ?? "";
}

/** The index of the pages, from the list of them. */
import { headingsOf } from "./markdown.ts";
import { SECTIONS } from "./pages.ts";

const HEAD = `# Cortex, page by page

New here? [Getting started](getting-started.md) takes five minutes and no key. \`npm run docs -- --site <folder>\` makes a site
of these pages, which needs no server.`;

export function indexPage(read: (file: string) => string): string {
  const sections = SECTIONS.map(({ title, pages }) => {
    const lines = pages.map(([file, about]) => `- [${titleOf(read(file))}](${file}): ${about}`);
    return `## ${title}\n\n${lines.join("\n")}\n`;
  });
  return [HEAD, ...sections].join("\n\n");
}

/** Its first heading. */
export function titleOf(page: string): string {
  return headingsOf(page)[0]?.text ?? "";
}

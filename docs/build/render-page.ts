/** Renders a Markdown page as HTML with the navigation. */
import { dirname, posix } from "node:path";

import { Marked, type Tokens } from "marked";

import { createAnchors } from "./markdown.ts";
import { htmlFile, INDEX, SECTIONS } from "./pages.ts";

export interface Page {
  readonly file: string;
  readonly text: string;
  /** The titles of all pages, by file. */
  readonly titles: ReadonlyMap<string, string>;
}

export function renderPage({ file, text, titles }: Page): string {
  const root = posix.relative(dirname(file), ".") || ".";
  const title = plainText(titles.get(file)!);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escape(file === INDEX ? "Cortex" : `${title} · Cortex`)}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${root}/site.css">
<script src="${root}/site.js" data-root="${root}" defer></script>
</head>
<body>
<a class="skip" href="#content">Skip to content</a>
<header>
<a class="name" href="${root}/index.html">Cortex</a>
<div role="search">
<input id="search" type="search" placeholder="Search" aria-label="Search the pages" autocomplete="off">
<ol id="found" aria-live="polite" hidden></ol>
</div>
</header>
<div class="columns">
<nav aria-label="Pages"><details id="pages"><summary>Pages</summary>
${navigation(file, titles)}
</details></nav>
<main id="content">
${renderText(file, text)}
</main>
</div>
</body>
</html>
`;
}

function navigation(current: string, titles: Page["titles"]): string {
  return SECTIONS.map(({ title, pages }) => {
    const items = pages.map(([file]) => {
      const here = file === current ? ' aria-current="page"' : "";
      return `<li><a href="${linkFrom(current, file)}"${here}>${escape(plainText(titles.get(file)!))}</a></li>`;
    });
    return `<h2>${title}</h2>\n<ul>\n${items.join("\n")}\n</ul>`;
  }).join("\n");
}

function renderText(file: string, text: string): string {
  const anchorOf = createAnchors();
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth, text: written }: Tokens.Heading): string {
        const anchor = anchorOf(written);
        const link = `<a class="anchor" href="#${anchor}" aria-label="Link to this section">#</a>`;
        return `<h${depth} id="${anchor}">${this.parser.parseInline(tokens)} ${link}</h${depth}>\n`;
      },
      link({ href, tokens }: Tokens.Link): string {
        const words = this.parser.parseInline(tokens);
        const target = targetOf(file, href);
        return target === undefined ? words : `<a href="${escape(target)}">${words}</a>`;
      },
      table(token: Tokens.Table): string {
        const cells = (row: readonly Tokens.TableCell[], tag: string): string =>
          `<tr>${row.map((cell) => `<${tag}>${this.parser.parseInline(cell.tokens)}</${tag}>`).join("")}</tr>`;
        const rows = token.rows.map((row) => cells(row, "td")).join("\n");
        // Wide tables scroll separately, also with the keyboard.
        return `<div class="wide" tabindex="0" role="region" aria-label="Table"><table>\n<thead>${cells(token.header, "th")}</thead>\n<tbody>\n${rows}\n</tbody>\n</table></div>\n`;
      },
      code({ text: lines, lang = "" }: Tokens.Code): string {
        return `<div class="code"><pre tabindex="0" data-language="${escape(lang)}"><code>${escape(lines)}\n</code></pre></div>\n`;
      },
    },
  });
  return marked.parse(text, { async: false });
}

/** The target of a link on the site. Undefined: a repository file that is not part of the site. */
function targetOf(file: string, href: string): string | undefined {
  if (/^([a-z]+:|#)/.test(href)) return href;
  const [path = "", anchor] = href.split("#");
  const target = posix.normalize(posix.join(dirname(file), path));
  if (target.startsWith("..")) return undefined;
  const link = linkFrom(file, target);
  return anchor === undefined ? link : `${link}#${anchor}`;
}

function linkFrom(file: string, target: string): string {
  return posix.relative(dirname(file), htmlFile(target));
}

function plainText(title: string): string {
  return title.replaceAll("`", "");
}

function escape(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}

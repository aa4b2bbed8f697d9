/** Every link of a page to another page, to a file or to a heading leads somewhere. */
import { existsSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { expect, test } from "vitest";

import { headingsOf } from "../docs/build/markdown.ts";
import { listPages, readPage } from "./support/docs.ts";

const OTHERS = ["ARCHITECTURE.md", "CHANGELOG.md", "bench/RESULTS.md"];

test("every link within the repository leads to a file, and to a heading where it names one", () => {
  const links = [...listPages(), ...OTHERS].flatMap((page) =>
    linksOf(readPage(page)).map((link) => ({ page, link })),
  );
  expect(links.length).toBeGreaterThan(200);
  expect(links.filter(({ page, link }) => !leadsSomewhere(page, link))).toEqual([]);
});

test("links are found in texts, not in code; anchors are those of GitHub", () => {
  const page =
    "[a](b.md#c) ![d](e.png) `[f](g)`\n\n```md\n[h](i.md)\n```\n\n[j]: k.md\n[l](https://m.example)";
  expect(linksOf(page)).toEqual(["b.md#c", "e.png", "k.md"]);
  const anchors = headingsOf("# A `b.c`: d!\n\n## A `b.c`: d!\n\n```sh\n# no heading\n```\n\n## Été_1 (x)\n");
  expect(anchors.map(({ anchor }) => anchor)).toEqual(["a-bc-d", "a-bc-d-1", "été_1-x"]);
});

function linksOf(page: string): string[] {
  const text = page
    .replaceAll(/^( *)(```+).*\n(?:.*\n)*?\1\2 *$/gm, "")
    .replaceAll(/(`+)(?!`)[^]*?[^`]\1(?!`)/g, "");
  const links = text.matchAll(/\]\(<?([^)\s>]+)[^)]*\)|^\[[^\]]+\]: +(\S+)/gm);
  return Array.from(links, ([, inline, below]) => (inline ?? below)!).filter(
    (link) => !/^[a-z]+:/.test(link),
  );
}

function leadsSomewhere(page: string, link: string): boolean {
  const [path = "", anchor] = link.split("#");
  const target = path === "" ? page : normalize(join(dirname(page), decodeURIComponent(path)));
  if (!existsSync(target)) return false;
  if (anchor === undefined || !target.endsWith(".md")) return true;
  return headingsOf(readPage(target)).some((heading) => heading.anchor === decodeURIComponent(anchor));
}

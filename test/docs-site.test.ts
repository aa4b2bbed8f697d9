/** The site of all pages, as a browser finds it. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, expect, test } from "vitest";

import { htmlFile, PAGES, SECTIONS } from "../docs/build/pages.ts";
import { writeSite } from "../docs/build/site.ts";
import { temporaryFolder } from "./support/temporary.ts";

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());
writeSite(folder.path);

const pages = new Map(PAGES.map((file) => [htmlFile(file), read(htmlFile(file))]));

function read(file: string): string {
  return readFileSync(join(folder.path, file), "utf8");
}

test("every page is there, and in the navigation of every other", () => {
  expect(pages.size).toBeGreaterThan(10);
  for (const page of pages.values()) {
    const navigation = page.split("<nav")[1]!.split("</nav>")[0]!;
    expect(navigation.match(/<li>/g)).toHaveLength(PAGES.length - 1);
    for (const { title } of SECTIONS) expect(navigation).toContain(`<h2>${title}</h2>`);
  }
});

test("every link leads to a file of the site, and to a heading where it names one", () => {
  const links = [...pages].flatMap(([file, page]) =>
    Array.from(page.matchAll(/ (?:href|src)="([^"]*)"/g), ([, link]) => ({ file, link: link! })).filter(
      ({ link }) => !/^(https?|data):/.test(link),
    ),
  );
  expect(links.length).toBeGreaterThan(100);
  expect(links.filter(({ file, link }) => !leadsSomewhere(file, link))).toEqual([]);
});

function leadsSomewhere(file: string, link: string): boolean {
  const [path = "", anchor] = link.split("#");
  const target = path === "" ? file : join(dirname(file), path);
  if (anchor === undefined) return existsSync(join(folder.path, target));
  return pages.get(target)?.includes(` id="${decodeURIComponent(anchor)}"`) === true;
}

test("nothing is asked of another host", () => {
  const links = / (?:src|srcset|action|data)="https?:|<link[^>]+href="https?:/;
  for (const page of pages.values()) expect(page).not.toMatch(links);
  for (const asset of ["site.css", "site.js"]) expect(read(asset)).not.toMatch(/https?:|@import|\bfetch\(/);
});

test("what a page shows of HTML is text", () => {
  expect(pages.get("reference/config.html")).toContain("agents.&lt;id&gt;.persona");
  for (const page of pages.values()) expect(page).not.toMatch(/<(id|name|turn|session|folder)>/);
});

test("the search knows every page, by where its sections are", () => {
  const index = JSON.parse(/^window\.searchIndex = (.*);\n$/s.exec(read("search.js"))![1]!) as string[][];
  expect(new Set(index.map(([href]) => href!.split("#")[0]))).toEqual(new Set(pages.keys()));
  expect(index.filter(([href]) => !leadsSomewhere("index.html", href!))).toEqual([]);
});

/** What stands on what, of the colours of the style sheet. WCAG 2.2, 1.4.3 wants 4.5 to 1. */
const ON = [
  ["text", "back"],
  ["text", "raised"],
  ["text", "here"],
  ["quiet", "back"],
  ["quiet", "raised"],
  ["quiet", "here"],
  ["link", "back"],
  ["link", "here"],
  ["link", "raised"],
] as const;

test.each(["light", "dark"])("%s colours can be told apart", (scheme) => {
  const [light, dark] = Array.from(read("site.css").matchAll(/:root \{(.*?)\}/gs), ([, rules]) => rules!);
  const colours = new Map(
    Array.from((scheme === "light" ? light! : dark!).matchAll(/--(\w+): (#\w{6});/g), ([, name, colour]) => [
      name!,
      luminance(colour!),
    ]),
  );
  for (const [text, back] of ON) {
    const [darker, lighter] = [colours.get(text)!, colours.get(back)!].toSorted((one, other) => one - other);
    expect([text, back, (lighter! + 0.05) / (darker! + 0.05) >= 4.5]).toEqual([text, back, true]);
  }
});

/** Relative luminance, as WCAG 2.2 defines it. */
function luminance(colour: string): number {
  const [red, green, blue] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!;
}

test("nothing but the pages, their examples and what they need is written", () => {
  const files = readdirSync(folder.path, { recursive: true, encoding: "utf8" }).filter((file) =>
    file.includes("."),
  );
  const others = files.filter((file) => !pages.has(file) && !/^(examples\/|images\/.*\.svg$)/.test(file));
  expect(others.toSorted()).toEqual(["search.js", "site.css", "site.js"]);
});

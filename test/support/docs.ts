/** The pages that people read, and what is in them for a program: blocks of code, and commands for a shell. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";

import { shellWords } from "./shell-words.ts";

const ROOT = new URL("../../", import.meta.url);
const RUNNER = fileURLToPath(new URL("run-pages.ts", import.meta.url));

/** From the root of the repository: `README.md`, `docs/hooks.md`. */
export function listPages(): string[] {
  const files = readdirSync(new URL("docs", ROOT), { recursive: true, encoding: "utf8" });
  return [
    "README.md",
    ...files
      .filter((file) => file.endsWith(".md"))
      .toSorted()
      .map((file) => `docs/${file}`),
  ];
}

export function readPage(path: string): string {
  return readFileSync(new URL(path, ROOT), "utf8");
}

/** What stands in the fenced blocks of a language. */
export function blocksOf(page: string, language: string): string[] {
  return Array.from(
    page.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, "gms")),
    ([, block]) => block!,
  );
}

/** The section with this heading, up to the next one of its level. */
export function sectionOf(page: string, heading: string): string {
  return page.split(`## ${heading}\n`)[1]!.split("\n## ")[0]!;
}

/**
 * The commands of a page, as a shell gets them: the lines of its `sh` blocks, and those after the `$` of its
 * `console` blocks, without comments and with `npx cortex` and `node bin/cortex.js` as `cortex`. A block that is more than a list of commands,
 * with variables or loops, is one command.
 */
export function commandsOf(page: string): string[] {
  const blocks = page.matchAll(/^```(sh|console)\n(.*?)^```/gms);
  return Array.from(blocks, ([, language, block]) =>
    language === "sh" ? splitBlock(block!) : typedIn(block!),
  )
    .flat()
    .map((command) => command.replaceAll(/\b(npx cortexd?|node bin\/cortex\.js)(?= |$)/gm, "cortex"));
}

function typedIn(block: string): string[] {
  return Array.from(block.matchAll(/^\$ (.*)$/gm), ([, line]) => withoutComment(line!));
}

/** Lines that go on, here-documents, loops, and variables for the lines below. */
const SCRIPT = /^(\s+\S|(if|for|while|until) )|^\w+=("[^"]*"|'[^']*'|\$\(.*\)|\S*) *$|<<|\\$/m;

function splitBlock(block: string): string[] {
  if (SCRIPT.test(block)) return [block.trim()];
  return block
    .split("\n")
    .map(withoutComment)
    .filter((line) => line !== "");
}

function withoutComment(line: string): string {
  return (/^(?:"[^"]*"|'[^']*'|(?!(?:^|\s)#)[^])*/.exec(line)?.[0] ?? "").trim();
}

/** The words after `cortex`; `things` are put in place of words, and a home in place of `~`. */
export function wordsOf(
  command: string,
  { home, things = {} }: { home?: string; things?: Readonly<Record<string, string>> } = {},
): string[] {
  return shellWords(command).map(
    (word) => things[word] ?? (home === undefined ? word : word.replace(/^~(?=\/)/, home)),
  );
}

export interface PlayedPage {
  readonly page: string;
  /** What is done first, and not shown on the page. */
  readonly before: readonly string[];
  readonly commands: readonly string[];
}

export interface PlayedCommand {
  readonly page: string;
  readonly command: string;
  readonly code: number;
  /** Both outputs. */
  readonly said: string;
}

/** Carries out the commands of pages, each page in a home of its own with a server: see `run-pages.ts`. */
export async function playPages(pages: readonly PlayedPage[]): Promise<PlayedCommand[]> {
  const child = spawn(process.execPath, [RUNNER], { stdio: ["pipe", "pipe", "inherit"] });
  child.stdin.end(JSON.stringify(pages));
  const [out] = await Promise.all([text(child.stdout), once(child, "close")]);
  return out
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as PlayedCommand);
}

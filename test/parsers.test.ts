/**
 * Every reader of others' texts, with the texts that are worst for it: twice the text may take no more than a bit more
 * than twice the work. Work is the processor's time of this thread, the least of several runs; what is too short to be
 * measured is short enough.
 */
import { expect, test } from "vitest";

import { applyEdits } from "../src/agents/tools/edit.ts";
import { decodeEntities } from "../src/agents/tools/html-entities.ts";
import { CHARACTERS_AT_ONCE, htmlToText } from "../src/agents/tools/html-to-text.ts";
import { readToolLines } from "../src/agents/offline/tool-lines.ts";
import { parseInline } from "../src/cli/markdown-inline.ts";
import { MARKDOWN_START, MAX_MARKUP_LENGTH, renderLine } from "../src/cli/markdown.ts";
import { harmless } from "../src/cli/text.ts";
import { findEnvProblems } from "../src/config/environment.ts";
import { splitText } from "../src/delivery/chunk-text.ts";
import { parseReply } from "../src/delivery/reply-tags.ts";
import { createRedact } from "../src/model/redact.ts";
import { words } from "../src/model/words.ts";
import { checkSkill } from "../src/personas/skill-file.ts";
import { findAbort } from "../src/relay/abort-marker.ts";
import { addedText } from "../src/relay/added-text.ts";
import { readFrontmatter as readPromptHead } from "../src/relay/frontmatter.ts";
import { composePrompt } from "../src/relay/prompt-language.ts";
import { readFrontmatter as readNoteHead } from "../src/team/frontmatter.ts";
import { bodyLines } from "../src/team/block-text.ts";
import { outlineOf } from "../src/team/outline.ts";
import { blocksOf } from "../src/team/task-blocks.ts";

const KB = 1024;
const { signal } = new AbortController();
const base = new URL("https://example.test/");
const redact = createRedact([{ name: "A", value: "aaaaaaaa" }]);
const ignore = (): undefined => undefined;

type Parser = readonly [
  name: string,
  length: number,
  worst: readonly string[],
  read: (text: string) => unknown,
];

const PARSERS: readonly Parser[] = [
  [
    "HTML",
    256 * KB,
    ["* ", "<a b", '<a b="', "<li>", "<!--", "<script>", "&#1", "<"],
    (text) => htmlToText(text, { base, signal }),
  ],
  ["character references", 256 * KB, ["&", "&#x1", "&amp;", "&a"], decodeEntities],
  [
    "Markdown in a line",
    MAX_MARKUP_LENGTH,
    ["[a](", "![a](", "[](", "`", "`a", "*a", "**a ", "_a ", "__a", "~~a", "["],
    (text) => parseInline(text),
  ],
  [
    "lines of Markdown",
    MAX_MARKUP_LENGTH,
    ["# ", "> ", "|", "|-", "- ", "#"],
    (text) => renderLine(MARKDOWN_START, text, 80),
  ],
  ["control sequences", 64 * KB, ["\u001B]", "\u001B[", "\u009B", "\u001B[31m"], harmless],
  [
    "messages in pieces",
    256 * KB,
    ["a", "``` a\n", "> ", "e\u0301", "\n"],
    (text) => splitText(text, { maxLength: 4_096 }),
  ],
  ["reply tags", 256 * KB, ["[[", "[[reply_to:a", "`[[", "[[reply_to:a]]", "\n"], parseReply],
  [
    "marks to abort",
    256 * KB,
    ["[ABORT:[", "- ", "1. [ABORT", "[ABORT]\n", "```\n"],
    (text) => findAbort("", `${text}[ABORT`),
  ],
  ["added text", 256 * KB, ["a\n", "\n", "a"], (text) => addedText(`x${text}`, `y${text}`)],
  [
    "heads of prompts",
    16 * KB,
    ["? ", "[", "{", "}", "- ", "a: "],
    (text) => readPromptHead(text, "f").catch(ignore),
  ],
  [
    "prompts",
    128 * KB,
    ["${a:-", "${a", "@if(a)@endif", "@else", "@block(a)\n@endblock\n"],
    (text) =>
      composePrompt({ file: "f", text: `---\na: b\n---\n${text}` }, () => Promise.reject(new Error())).catch(
        ignore,
      ),
  ],
  [
    "heads of notes",
    15 * KB,
    ["? ", "[", "{", "}", "a: b\n", "*a\n"],
    (text) => readNoteHead(`---\n${text}\n---\n`),
  ],
  [
    "heads of skills",
    15 * KB,
    ["? ", "[", "{", "}", "a: b\n", "- "],
    (text) => checkSkill(`---\n${text}\n---\n`, "a"),
  ],
  [
    "tasks",
    256 * KB,
    ["## a\n", "## a\n**Status:** ready\n", "<!--", "```\n", "**a:** b\n"],
    (text) => blocksOf(text),
  ],
  [
    "bodies of tasks",
    50_000,
    ["<!--", "```\n", "# a\n", " \n", "**a:**\n"],
    (text) => bodyLines(text, outlineOf("")),
  ],
  ["lines of .env", 256 * KB, ['="', "a='\n", "=`", "a\n"], findEnvProblems],
  ["tool lines", 256 * KB, ["/tool ", "/tool A {\n", "/tool\n", " "], readToolLines],
  ["secrets", 256 * KB, ["a", "aaaaaaab", "b"], (text) => redact(text)],
  ["words", 128 * KB, ["a ", "a", "中", "e\u0301", "\u200D"], words],
  [
    "edits",
    512 * KB,
    ["a", "ab"],
    (text) =>
      applyEdits(Buffer.from(text), [{ oldText: `${text.slice(0, 1_000)}x`, newText: "" }], "f").catch(
        ignore,
      ),
  ],
];

/** Below this nothing is said about growth. */
const SHORT_MS = 50;
/** Linear work doubles; noise and collected memory make some more of it, the square would be four times as much. */
const MAX_GROWTH = 3.2;

test.each(PARSERS)(
  "the time for %s grows with their length",
  { timeout: 120_000 },
  async (_, length, worst, read) => {
    for (const unit of worst) {
      const text = unit.repeat(Math.ceil(length / unit.length)).slice(0, length);
      const whole = await leastTime(() => read(text), SHORT_MS);
      if (whole < SHORT_MS) continue;
      const half = await leastTime(() => read(text.slice(0, length / 2)));
      expect([unit, whole < half * MAX_GROWTH || whole]).toEqual([unit, true]);
    }
  },
);

async function leastTime(read: () => unknown, enough = 0): Promise<number> {
  let least = Infinity;
  for (let run = 0; run < 5 && least > enough; run++) {
    const { user } = process.threadCpuUsage();
    await read();
    least = Math.min(least, process.threadCpuUsage({ user, system: 0 }).user / 1_000);
  }
  return least;
}

test("a page without a tag is read in parts, between which others get their turn", async () => {
  let turns = 0;
  let next = setImmediate(count);
  function count(): void {
    turns += 1;
    next = setImmediate(count);
  }
  const text = "a &amp; b ".repeat(CHARACTERS_AT_ONCE);
  const page = await htmlToText(text, { base, signal });
  clearImmediate(next);
  expect(turns).toBeGreaterThan(2);
  expect(page.text).toBe(text.replaceAll("&amp;", "&").trim());
});

test("a skill whose keys are nested maps is refused at once", async () => {
  const { problems } = await checkSkill(`---\n${"? ".repeat(200)}a\n---\n`, "a");
  expect(problems.join()).toContain("keys that are no texts");
});

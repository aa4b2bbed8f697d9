// 100 KB of Markdown that is meant to hurt, rendered for each platform: prints the slowest of each kind.

import type { MessageFormat } from "../../src/model/cut-rich-text.ts";
import { renderRichText } from "../../src/model/cut-rich-text.ts";
import { parseRichText } from "../../src/model/parse-rich-text.ts";
import { discordFormat } from "../../src/channels/discord/render.ts";
import { slackFormat } from "../../src/channels/slack/render.ts";
import { telegramFormat } from "../../src/channels/telegram/render.ts";

const BYTES = 100 * 1024;
const ROUNDS = 3;

const HOSTILE: Readonly<Record<string, string>> = {
  "emphasis without end": "*a _b ",
  "brackets without end": "[",
  "links in brackets": "[a](",
  "quotes in quotes": "> ",
  "backticks of all lengths": "` `` ``` ",
  "lists in lists": "- ",
  "cells of a table": "| a ",
  "angle brackets": "<a ",
  escapes: "\\*\\_",
  "bold words": "**a** *b* `c` ",
  "lines of emphasis": "**a** *b* `c` ~~d~~\n",
  "paragraphs of links": "[a](https://example.test/a) [b](https://example.test/b)\n\n",
  "lines of quotes in lists": "- > - > - > a\n",
  "fences and headings": "# a\n```\nb\n```\n",
  "rows of a table": "| a | b |\n|---|---|\n| **c** | `d` |\n",
  prose: "Some words, and then some more of them. ",
};

const FORMATS: Readonly<Record<string, MessageFormat>> = {
  telegram: telegramFormat,
  discord: discordFormat,
  slack: slackFormat,
};

for (const [kind, unit] of Object.entries(HOSTILE)) {
  const markdown = unit.repeat(Math.ceil(BYTES / unit.length)).slice(0, BYTES);
  for (const [platform, format] of Object.entries(FORMATS)) {
    const rounds = Array.from({ length: ROUNDS }, () => timeOf(markdown, format));
    console.log(JSON.stringify({ kind, platform, ms: rounds.toSorted((a, b) => a - b)[1] }));
  }
}

function timeOf(markdown: string, format: MessageFormat): number {
  const startedMs = performance.now();
  const parsing = parseRichText(markdown);
  let step = parsing.next();
  while (step.done !== true) step = parsing.next();
  for (const _ of renderRichText(step.value, format));
  return performance.now() - startedMs;
}

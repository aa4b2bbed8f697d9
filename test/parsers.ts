/**
 * Every reader of others' texts, by its name in the table of docs/security.md, with the texts that are worst for it, as
 * long as it takes them. What is read in slices, or takes texts of many megabytes, is given enough to see how its time grows.
 */
import { Readable } from "node:stream";
import { setImmediate } from "node:timers/promises";

import { parseStreamingJson } from "@earendil-works/pi-ai/utils/json-parse";

import { lifetimeMs } from "../src/access/lifetime.ts";
import { readToolLines } from "../src/agents/offline/tool-lines.ts";
import { AnswerStream } from "../src/agents/pi/translate.ts";
import { readFields } from "../src/agents/process/fields.ts";
import { readLines } from "../src/agents/process/lines.ts";
import { makeReadable } from "../src/agents/tools/command-output.ts";
import { applyEdits, MAX_EDITED_BYTES } from "../src/agents/tools/edit.ts";
import { htmlToText } from "../src/agents/tools/html-to-text.ts";
import { MAX_SHOWN_BYTES } from "../src/agents/tools/output.ts";
import { receiveWebhook } from "../src/channels/webhook/receive.ts";
import { verifyWebhook } from "../src/channels/webhook/verify.ts";
import { MAX_MARKUP_LENGTH } from "../src/terminal/markdown-layout.ts";
import { addMarkdown, MARKDOWN_START, MAX_BLOCK_LENGTH, renderRest } from "../src/terminal/markdown.ts";
import { readServerSentEvents } from "../src/client/server-sent-events.ts";
import { harmless } from "../src/terminal/text.ts";
import { findEnvProblems } from "../src/config/environment.ts";
import { MAX_FILE_BYTES, parseJsonFile } from "../src/config/json-file.ts";
import { parseTeamConfig } from "../src/config/team-config-file.ts";
import { discordFormat } from "../src/channels/discord/render.ts";
import { slackFormat } from "../src/channels/slack/render.ts";
import { telegramFormat } from "../src/channels/telegram/render.ts";
import { splitText } from "../src/delivery/chunk-text.ts";
import { planChunks } from "../src/delivery/send-delivery.ts";
import { MAX_TAGGED_LENGTH, parseReply } from "../src/delivery/reply-tags.ts";
import { scriptKindOf, parseHeader } from "../src/hooks/folder/parse-header.ts";
import { MAX_HOOK_FILE_BYTES } from "../src/hooks/folder/read-folder.ts";
import { splitEventId } from "../src/model/event.ts";
import { cutRichText, type MessageFormat, renderRichText } from "../src/model/cut-rich-text.ts";
import { excerpt } from "../src/model/excerpt.ts";
import { inSlices, type Sliced } from "../src/model/in-slices.ts";
import { parseRichText } from "../src/model/parse-rich-text.ts";
import { CortexError } from "../src/model/errors.ts";
import { canonicalJson, type Json } from "../src/model/json.ts";
import { labelNames } from "../src/model/label-names.ts";
import { matches } from "../src/model/permissions.ts";
import { personIdOf, principalKind } from "../src/model/principal.ts";
import { createRedact } from "../src/model/redact.ts";
import { isScopedToken, redactTokens } from "../src/model/token.ts";
import { parseTrust } from "../src/model/trust.ts";
import { relevance, spaced } from "../src/model/relevance.ts";
import { parseSchedule } from "../src/model/schedule.ts";
import { parseScopes } from "../src/model/scopes.ts";
import {
  MAX_SESSION_KEY_LENGTH,
  normalizeSessionKey,
  parseSessionKey,
  type SessionKey,
} from "../src/model/session-key.ts";
import { readQuery, words } from "../src/model/words.ts";
import { MAX_YAML_SIGNS } from "../src/model/yaml-keys.ts";
import { ownerPatterns } from "../src/patterns/matcher.ts";
import { checkSkill } from "../src/personas/skill-file.ts";
import { parseConfigList } from "../src/programs/git.ts";
import { parseCommand } from "../src/queue/command.ts";
import { findAbort } from "../src/relay/record/abort-marker.ts";
import { parseActivity } from "../src/relay/artifact/touches.ts";
import { addedText } from "../src/relay/artifact/added-text.ts";
import { parseRelayCommand } from "../src/relay/surface/chat-command-syntax.ts";
import type { ApprovalId, EventId } from "../src/model/ids.ts";
import { MAX_RENDERED_LENGTH, renderCall, renderRequest } from "../src/model/request.ts";
import { compareTexts } from "../src/model/compare-texts.ts";
import { replayTouches } from "../src/relay/artifact/file-changes.ts";
import { readPromptHead } from "../src/relay/prompts/frontmatter.ts";
import { composePrompt, MAX_COMPOSED_LENGTH } from "../src/relay/prompts/language.ts";
import { fillVariables, findUnknown } from "../src/relay/prompts/runtime-variables.ts";
import { digestedEventId } from "../src/store/kept-id.ts";
import { MAX_SEARCHED_CHARACTERS } from "../src/store/store.ts";
import { bodyLines } from "../src/team/markdown/block-text.ts";
import { MAX_BODY_LENGTH } from "../src/team/markdown/task.ts";
import { requestNotice } from "../src/turns/approval.ts";
import { parseTeamCommand } from "../src/team/surface/chat-commands.ts";
import { MAX_TEAM_FILE_BYTES, MAX_TEAM_FILE_LINES } from "../src/team/files/file-state.ts";
import { outlineOf } from "../src/team/markdown/outline.ts";
import { readNote } from "../src/team/markdown/read-note.ts";
import { readTasks } from "../src/team/markdown/read-tasks.ts";
import { gistOf } from "../src/team/markdown/task-gist.ts";
import { playChannel } from "./support/played-channel.ts";

const KB = 1024;
const MB = 1024 * KB;
const { signal } = new AbortController();
const base = new URL("https://example.test/");
const redact = createRedact([{ name: "A", value: "aaaaaaaa" }]);
const asked = readQuery("aaa bbb ccc 中文");
const wanted = { query: asked, weights: asked.terms.map((_, at) => at + 1) };
const NO_VALUES = {
  input: "x",
  userMessage: "",
  artifactPath: "",
  previousOutput: "",
  modifiedFiles: "",
  modifiedFilesWithDiff: "",
  currentDateTime: "",
};
const platform = playChannel({ maxLength: 4_096 });

const MARKDOWN =
  '# a\n\n> b *c* **d** `e`\n\n1. f\n   - g\n\n| h | i |\n|---|:-:|\n| j | k |\n\n```ts\nlet l = 1;\n```\n[m](https://example.test "n") ![o](p)\n';

const TASKS =
  "# Tasks\n\n## a\n**Status:** ready\n**Priority:** high\n\nb\n\n## c\n**Status:** in progress\n<!-- a:last-tick 2026-01-01T00:00:00Z -->\n### Summary\nd\n\n```\n## not a task\n```\n";

export interface Parser {
  /** As in the table of docs/security.md. */
  readonly name: string;
  readonly length: number;
  /** Repeated, each is a text that is as bad as can be. */
  readonly worst: readonly string[];
  /** What it rejects with, or throws, is the end of it. */
  readonly read: (text: string) => unknown;
  /** Texts that it accepts, for `npm run fuzz`. */
  readonly samples?: readonly string[];
  /** Throws where what was read breaks a promise that holds for every text. */
  readonly law?: (text: string) => unknown;
}

/** Not others' words: only that its time is in proportion is looked at. */
export const OWN: ReadonlySet<string> = new Set(["`config/.env`", "your own configuration"]);

export const PARSERS: readonly Parser[] = [
  {
    name: "patterns of agents, hooks, relays and scripts",
    length: 256 * KB,
    worst: ["a", "\n", "ab"],
    samples: ["^(a+)+$", "(?<year>\\d{4})-(?:0[1-9])", '[^\\s"]+\\b'],
    read: (text) => ownerPatterns.test(["(a|b|ab)*c", ".{0,200}x"], [text]),
    law: (text) => ownerPatterns.test([text.slice(0, 200)], ["aaaa 2026-01-01"]).catch(refused),
  },
  {
    name: "patterns of permissions",
    length: 8 * KB,
    worst: ["*", "a*"],
    samples: ["mcp__*__read", "api.*.example.test", "*"],
    read: (text) => matches([text], "a".repeat(8 * KB)),
  },
  {
    name: "HTML pages",
    length: 256 * KB,
    worst: [
      "* ",
      "<a b",
      '<a b="',
      "<li>",
      "<!--",
      "<script>",
      "&#1",
      "<",
      "<a href=x>",
      "<td>",
      "<title>",
      "<svg>",
      "</a>",
      "<b",
      "<![CDATA[",
    ],
    samples: [
      '<!doctype html><title>a</title><body><h1>b</h1><ul><li><a href="/c">d</a></ul><table><tr><td>e</table><pre>f\n</pre>',
    ],
    read: (text) => htmlToText(text, { base, signal }),
  },
  {
    name: "Markdown in the terminal",
    length: MAX_MARKUP_LENGTH,
    worst: [
      "[a](",
      "![a](",
      "[](",
      "`",
      "`a",
      "*a",
      "**a ",
      "_a ",
      "__a",
      "~~a",
      "[",
      "![",
      "<a",
      "\\",
      "&",
      "# ",
      "> ",
      "|",
      "|-",
      "- ",
      "#",
      "1. ",
    ],
    samples: [MARKDOWN],
    law: (text) => isHarmless(renderRest({ source: harmless(text), shown: 0 }, 80)),
    read: (text) => renderRest({ source: text, shown: 0 }, 80),
  },
  {
    name: "Markdown in the terminal",
    length: MAX_BLOCK_LENGTH,
    worst: [
      "- a\n",
      "|a|b|\n|-|-|\n",
      "> a\n",
      "a\n",
      "* a\n  ",
      "```\n",
      "    a\n",
      "*a\n",
      "[\n",
      "| a\n",
      "\n",
    ],
    read: (text) => addMarkdown(MARKDOWN_START, text, 80),
  },
  {
    name: "server-sent events in the terminal",
    length: MB,
    worst: ["data:a", "data: a\n", "\n", "\r", ":"],
    samples: ['id: 1\nevent: delta\ndata: {"text":"a"}\ndata: b\n\n: ping\n\nretry: 500\n\n'],
    law: readsTheSameInPieces,
    read: async (text) => {
      for await (const _ of readServerSentEvents(inChunks(text))) void _;
    },
  },
  {
    name: "control sequences",
    length: MAX_SHOWN_BYTES,
    worst: ["\u001B]", "\u001B[", "\u009B", "\u001B[31m", "\u001B[;", "\u0007"],
    samples: ["\u001B[1;31mred\u001B[0m \u001B]8;;https://example.test\u0007link\u001B]8;;\u0007"],
    law: (text) => {
      if (/[^\P{Cc}\t\n]/u.test(harmless(text))) throw new Error("a control character is left");
    },
    read: (text) => [harmless(text), makeReadable(text)],
  },
  {
    name: "messages cut for a platform",
    length: MB,
    worst: ["a", "``` a\n", "> ", "e\u0301", "\n", "a b. "],
    samples: [MARKDOWN],
    law: async (text) => {
      for (const chunk of await planChunks({ content: text }, playChannel({ maxLength: 64 })))
        if (chunk.length > 64) throw new Error(`a chunk of ${chunk.length} characters`);
    },
    read: (text) => planChunks({ content: text }, platform),
  },
  {
    name: "messages cut for a platform",
    length: 100_000,
    worst: ["\n", "```\n", "a", "~~~~ a\n"],
    read: (text) => [...splitText(text, { maxLength: 100_000 })],
  },
  {
    name: "messages cut for a platform",
    length: 128 * KB,
    worst: [
      "- a\n",
      "a|b\n-|-\n",
      "|||a\n|-|-|-|\n",
      "[\n",
      "![",
      "[*",
      "$a",
      "\\(",
      "$$\n",
      "<a@b.c>",
      "http://a.b ",
      "> ",
    ],
    samples: [MARKDOWN],
    law: (text) => fitsEverywhere(text),
    read: (text) => inSlices(rendered(inLines(text), telegramFormat)),
  },
  {
    name: "messages cut for a platform",
    length: 128 * KB,
    worst: ["# a\n", "*a*b", "_*", "- *a*\n", "~~a~~_b_", "[a](https://a.b) ", "`a`", "```\na\n```\n", "[]("],
    read: (text) => inSlices(rendered(inLines(text), discordFormat)),
  },
  {
    name: "messages cut for a platform",
    length: 128 * KB,
    worst: ["# a\n", "*a*b", "> a\n\n"],
    read: (text) => inSlices(rendered(inLines(text), slackFormat)),
  },
  {
    name: "reply tags",
    length: MAX_TAGGED_LENGTH,
    worst: ["[[", "[[reply_to:a", "`[[", "[[reply_to:a]]", "[[ \n", "[[audio_as_voice]] "],
    samples: ["[[reply_to_current]] a", "[[ reply_to: 12 ]]\\n[[audio_as_voice]] b `[[reply_to:c]]`"],
    read: parseReply,
  },
  {
    name: "commands in messages",
    length: MB,
    worst: [
      "/queue ",
      "/answer a\n",
      "/deny  ",
      "!thread ",
      "!thread add  ",
      "!team dispatch a:\n",
      "`",
      " ",
    ],
    samples: [
      "/queue collect debounce:1s cap:20 drop:old\nmore",
      "!thread add review --dir /tmp what",
      "/deny 01J because",
      "!team dispatch a: title\nbody",
    ],
    read: (text) => [
      attempt(parseCommand, text),
      attempt(parseRelayCommand, text),
      attempt(parseTeamCommand, text),
    ],
  },
  {
    name: "`[ABORT]` in artifacts",
    length: 512 * KB,
    worst: ["[ABORT:[", "- ", "1. [ABORT", "[ABORT]\n", "```\n", "~~~~\n", "- - [ABORT\n"],
    samples: ["# a\n\n[ABORT: no money]\n", "- [ABORT]\n```\n[ABORT]\n```\n"],
    read: (text) => findAbort("", `${text}[ABORT`),
  },
  {
    name: "what a step added to an artifact",
    length: 512 * KB,
    worst: ["a\n", "\n", "a"],
    read: (text) => addedText(`x${text}`, `y${text}`),
  },
  {
    name: "what a step added to an artifact",
    length: MB,
    worst: ["a"],
    read: (text) => addedText(numbers(text.length), `0\n${numbers(text.length)}`),
  },
  {
    name: "frontmatter of prompts, notes and `SKILL.md`",
    length: MAX_YAML_SIGNS - 10,
    worst: [
      "? ",
      "[",
      "{",
      "}",
      "- ",
      "a: ",
      "a: b\n",
      "*a\n",
      "&a [*a,",
      "&a a: *a\n",
      "- &a\n",
      '"',
      "| \n",
      "!!a ",
    ],
    samples: [
      "name: a\ndescription: b\nvariables:\n  - name: c\n    required: true\n",
      "status: active\nprojects: [a, b]\nlast: 2026-01-01\n",
    ],
    read: async (text) => [
      attempt((yaml) => readPromptHead(yaml, "f"), text),
      readNote(`---\n${text}\n---\n`),
      checkSkill(`---\n${text}\n---\n`, "a"),
    ],
  },
  {
    name: "a team's `config.yaml`",
    length: MAX_YAML_SIGNS - 10,
    worst: ["? ", "[", "{", "}", "- ", "a: b\n", "&a [*a,", "&a a: *a\n"],
    samples: ['members:\n  - slug: a\n    role: b\nheartbeat: "*/30 * * * *"\n'],
    read: (text) => parseTeamConfig({ text }),
  },
  {
    name: "directives of prompts",
    length: MAX_COMPOSED_LENGTH - KB,
    worst: ["${a:-", "${a", "${a}", "@if(a)@endif", "@else", "@block(a)\n@endblock\n", "@if(", "a\n"],
    samples: ["a ${b} ${c:-d}\n@if(b)\ne\n@else\nf\n@endif\n@block(g)\nh\n@endblock\n@include(i)\n"],
    read: (text) =>
      composePrompt({ file: "f", text: `---\na: b\n---\n${text}` }, () => Promise.reject(new Error())),
  },
  {
    name: "`{{variables}}` of prompts",
    length: MAX_COMPOSED_LENGTH,
    worst: ["{{#if input}}", "{{#if x}}", "{{", "{{ ", "{{input}}", "{{a", "{{/if}}", "{{#if userMessage}}"],
    samples: ["{{input}} {{#if userMessage}}a {{userMessage}}{{/if}} {{x}}"],
    read: (text) => fillVariables(text, NO_VALUES),
  },
  {
    name: "`{{variables}}` of prompts",
    length: MAX_COMPOSED_LENGTH,
    worst: ["{{#if x}}", "{{input}}", "{{/if}}", "{{\n", "{{a}}\n"],
    read: findUnknown,
  },
  {
    name: "task files of a team",
    length: MAX_TEAM_FILE_BYTES,
    worst: [
      "## a\n",
      "## a\n**Status:** ready\n",
      "<!--",
      "```\n",
      "**a:** b\n",
      "\n",
      "a",
      "<!-- a:last-tick -->\n",
      "## a\n**Status:** done\n**Status:** done\n### Summary\n",
      `\`\`\`\`\`\`\`\`\n`,
    ],
    samples: [TASKS],
    read: (text) => readTasks(`## a\n**Status:** ready\n${asFile(text)}`),
  },
  {
    name: "task files of a team",
    length: MAX_TEAM_FILE_BYTES,
    worst: ["# "],
    read: () => readTasks(unclosedFences()),
  },
  {
    name: "notes of a team",
    length: MAX_TEAM_FILE_BYTES,
    worst: ["## a\n", "- a\n", "Last session: 2026-01-01\n", "Status: a\n", "\n", "- [[a]]\n"],
    samples: [
      "---\nstatus: active\n---\n# a\n## Session Log\n- 2026-01-01 b [[c]]\n## d\nLast session: 2026-01-01\n",
    ],
    read: (text) => readNote(`---\na: b\n---\n## Session Log\n${asFile(text)}`),
  },
  {
    name: "titles and bodies of tasks",
    length: MAX_BODY_LENGTH - 1,
    worst: ["<!--", "```\n", "# a\n", " \n", "**a:**\n", "-->", " ", "#", " #"],
    read: (text) => [
      bodyLines(text, outlineOf("")),
      gistOf({ title: `a${text}b`, body: text, template: undefined, external: undefined }),
    ],
  },
  {
    name: "logs of what agents did to files",
    length: 512 * KB,
    worst: ['{"event":"write_file","file_path":"a","writtenContent":""}\n', "\n", "[[],[]]\n"],
    samples: [
      '{"event":"write_file","file_path":"a","writtenContent":"b"}\n{"event":"edit_file","file_path":"a"}\n',
    ],
    read: parseActivity,
  },
  {
    name: "patches",
    length: MB,
    worst: ["a\n", "\n"],
    read: (text) => {
      const lines = [...Array.from({ length: 1_000 }, () => ` ${text[0] === "a" ? "a" : ""}`), "-x"];
      const hunk = { oldStart: 1, oldLines: 1_001, newStart: 1, newLines: 1_000, lines };
      return replayTouches([{ path: "f", original: text, done: { kind: "patch", hunks: [hunk] } }]);
    },
  },
  {
    name: "diffs",
    length: 15 * KB,
    worst: ["a\n", "\n", "a\nb\n", "a"],
    read: (text) => compareTexts("f", `x\n${text}`, `${text.replaceAll("\n\n", "\n").slice(1_000)}\ny`),
  },
  {
    name: "calls as they are shown to people",
    length: MB,
    worst: ["a", "\u202E", "\n", "\u0301", "a\u0430.", "\\u{"],
    read: (text) => {
      const call = { tool: "Bash", args: { command: text, [text.slice(0, 1_000)]: [text] }, diff: text };
      return renderCall(call, { digest: "", max: MAX_RENDERED_LENGTH });
    },
    law: hidesNothing,
  },
  {
    name: "texts to be replaced by Edit",
    length: MAX_EDITED_BYTES,
    worst: ["a", "ab", "\n"],
    read: (text) =>
      applyEdits(Buffer.from(text), [{ oldText: `${text.slice(0, 1_000)}x`, newText: "" }], "f"),
  },
  {
    name: "`/tool` lines of the offline model",
    length: MB,
    worst: ["/tool ", "/tool A {\n", "/tool\n", " ", "/tool A [[["],
    samples: ['/tool Bash {"command":"ls"}\n/tool Read {\n"path":"a"\n}'],
    read: readToolLines,
  },
  {
    name: "secrets in texts",
    length: 16 * MB,
    worst: ["b", "aaaaaaab", "ab", "中"],
    samples: ["token=aaaaaaaa", "61616161%2061616161", "YWFhYWFhYWE=", '{"a":"\\u0061aaaaaaa"}'],
    law: (text) => {
      if (redact(text).includes("aaaaaaaa")) throw new Error("the secret is left");
    },
    read: (text) => redact(text),
  },
  {
    name: "words for search",
    length: MAX_SEARCHED_CHARACTERS,
    worst: ["a ", "a", "中", "e\u0301", "\u200D", "ﷺ", "👩‍👩‍👧"],
    samples: ["Straße 中文字 naïve e\u0301t\u00e9 foo_bar 3.14 👩‍👩‍👧"],
    read: words,
  },
  {
    name: "excerpts and relevance of hits",
    length: MAX_SEARCHED_CHARACTERS,
    worst: ["a ", "aaa ", "中", "文中 ", "ﷺ"],
    read: (text) => excerpt(text, wanted, 300),
  },
  {
    name: "excerpts and relevance of hits",
    length: MAX_SEARCHED_CHARACTERS,
    worst: ["a ", "aaa ", "中", "文中 "],
    read: (text) => relevance(spaced(words(text)), wanted, 0),
  },
  {
    name: "session keys, schedules, event ids",
    length: MAX_SESSION_KEY_LENGTH,
    worst: ["a:", ":", "%", "%41"],
    samples: [
      "agent:main:telegram:group:123:thread:456",
      "agent:a:subagent:01j",
      "thr:thr_0123abcd:hook-pre:2",
      "main",
      "slack:C1",
    ],
    law: (text) => {
      const key = attempt(normalizeSessionKey, text);
      if (key !== undefined && normalizeSessionKey(key) !== key) throw new Error(`${key} is not normal`);
    },
    read: parseSessionKey,
  },
  {
    name: "session keys, schedules, event ids",
    length: 256,
    worst: ["* ", "1,", "*/1 ", "1-59/2,", "0 0 30 2 ", "every ", "L"],
    samples: ["*/5 8-17 * * mon-fri", "every 5 minutes", "0 0 1 1 *", "2026-01-01T00:00:00Z"],
    read: (text) => [attempt(parseSchedule, text), attempt(parseSchedule, `${text.slice(0, 240)} * * * *`)],
  },
  { name: "session keys, schedules, event ids", length: 512, worst: ["webhook:", ":"], read: splitEventId },
  {
    name: "scopes, lifetimes, tokens, labels, principals",
    length: 64 * KB,
    worst: ["ingest:a,", "read ", "ctx_0", "9", "a:", ":", "\u202E"],
    samples: ["read,ingest:telegram", "ingest:webhook:pay", "30d", `ctx_${"0".repeat(64)}`, "person:ada"],
    read: (text) => [
      attempt(parseScopes, text),
      attempt(lifetimeMs, text),
      redactTokens(text),
      [principalKind(text), personIdOf(text)],
      labelNames(parseTrust({ untrusted: { [text]: true }, private: { [text]: true }, denied: true })),
    ],
    law: (text) => {
      const scopes = attempt(parseScopes, text);
      if (scopes !== undefined && parseScopes(scopes.join(",")).join() !== scopes.join())
        throw new Error(`${scopes.join()} is read as other scopes`);
      if (isScopedToken(text) && redactTokens(text) === text) throw new Error("a token is left");
      const id = `doorbell:${text}` as EventId;
      if (splitEventId(digestedEventId(id)).adapter !== "doorbell") throw new Error("the adapter is lost");
    },
  },
  {
    name: "bodies of requests and webhooks",
    length: MB - 16,
    worst: ["[],", "{},", "0,", '"",', '"a",', "[", "\\"],
    samples: ['{"a":[1,null,"b"]},', '"c",{"__proto__":{"d":1}},'],
    read: (text) => webhook(`[${text}0]`, "application/json"),
  },
  {
    name: "bodies of requests and webhooks",
    length: MB - 16,
    worst: ["a=b&", "&", "%", "payload=", "+", "%41"],
    samples: ["payload=%7B%22a%22%3A1%7D&b=c+d", "a[b]=c&a[d]=e"],
    read: (text) => webhook(text, "application/x-www-form-urlencoded"),
  },
  {
    name: "signatures of webhooks",
    length: 16 * KB,
    worst: [",", "v1=a,", "t=1,", "=", "sha256="],
    samples: ["t=1700000000,v1=abcdef0123456789", "sha256=00ff"],
    read: (text) => attempt(signature, text),
  },
  {
    name: "canonical JSON",
    length: MB - 16,
    worst: ["[],", "{},", "0,", '"",', '{"b":0,"a":0},', '"\\n",'],
    samples: ['{"b":[1.5,-0,1e21],"a":"\\u2028"},'],
    law: (text) => {
      const value = attempt((json) => JSON.parse(json) as Json, `[${text}0]`);
      if (value === undefined) return;
      const canonical = attempt(canonicalJson, value);
      if (canonical !== undefined && canonicalJson(JSON.parse(canonical) as Json) !== canonical)
        throw new Error("read again, it is written differently");
    },
    read: (text) => canonicalJson(JSON.parse(`[${text}0]`)),
  },
  {
    name: "lines of sub-agents",
    length: MB,
    worst: ["a", "\\n"],
    samples: ['b","type":"chunk","text":"c'],
    read: (text) => readFields(`{"a":"${text}"}`),
  },
  {
    name: "lines of sub-agents",
    length: 256 * KB,
    worst: ["\n", "{}\n", "a"],
    read: async (text) => {
      const reader = readLines(Readable.from(inBytes(text)));
      while ((await reader.next()) !== undefined);
    },
  },
  {
    name: "arguments of calls as a model writes them",
    length: 256 * KB,
    worst: ["a", "[", "\\n", '\\"'],
    samples: ['b","c":[1,{"d":"\\u00e9'],
    read: (text) => {
      const block = { type: "toolCall", id: "a", name: "b", arguments: {}, partialJson: "" } as const;
      const gathered: { partialJson: string; arguments: unknown } = block;
      const answer = new AnswerStream(() => {});
      const place = { contentIndex: 0, partial: { content: [block] } as never };
      answer.take({ type: "toolcall_start", ...place });
      for (const delta of inPieces(`{"a":"${text}"}`)) {
        gathered.partialJson += delta; // as pi does it
        gathered.arguments = parseStreamingJson(gathered.partialJson);
        answer.take({ type: "toolcall_delta", delta, ...place });
      }
    },
  },
  {
    name: "headers of hooks",
    length: MAX_HOOK_FILE_BYTES,
    worst: [
      ";export {hook ",
      "export {",
      ";export  ",
      "/** @a b\n",
      "//\n",
      " ",
      "/**",
      "* @a\n",
      "\t\n",
      "}",
      "export {as ",
      "b\n",
    ],
    samples: [
      "/**\n * @name a\n * @description b\n * @mode one-shot\n */\nexport const filter = {};\nexport default async () => ({ fire: false });\n",
      "export { a as hook, b };",
    ],
    read: (text) => [scriptKindOf(text), parseHeader(text), parseHeader(`/** @name a\n${text}*/`)],
  },
  {
    name: "settings of git",
    length: MB,
    worst: ["a.b\nc\0", "\0", "\n"],
    samples: ["core.bare\nfalse\0remote.origin.url\na\0core.hooksPath\n/x\0"],
    read: parseConfigList,
  },
  {
    name: "`config/.env`",
    length: MAX_FILE_BYTES,
    worst: ['="', "a='\n", "=`", "a\n", "=", "a=b\n", " "],
    samples: ["A=b\n# c\nexport D='e f'\nG=\"h\\n\"\n"],
    read: findEnvProblems,
  },
  {
    name: "your own configuration",
    length: 128 * KB,
    worst: ["0,", "[],", '"a",'],
    samples: ['{"agents":{"a":{}}}, // b\n'],
    read: (text) => parseJsonFile("cortex.json", { text: `{"a":[${text}0]}` }),
  },
];

function attempt<Given, Result>(read: (given: Given) => Result, given: Given): Result | undefined {
  try {
    return read(given);
  } catch (error) {
    return refused(error);
  }
}

/** Refusing a text is an end like any other; failing on it is not. */
export function refused(error: unknown): undefined {
  if (!(error instanceof CortexError || error instanceof SyntaxError)) throw error;
}

/** Whatever a request and its circumstances hold, a person sees all of it: no character that hides, moves or reverses others. */
function hidesNothing(text: string): void {
  const request = {
    tool: text,
    args: { [text]: text, list: [text, { [text]: 1 }] },
    reason: text,
    again: text,
    agent: text,
    workspace: text,
    principal: text,
    labels: [text],
    causedBy: { event: text, sender: text, channel: text, text },
    files: [{ path: text, sha256: null }],
    diff: text,
  };
  const question = { question: text, options: [text] };
  const notice = { id: "1" as ApprovalId, callHash: "1" };
  const about = { session: "main" as SessionKey, isByOthers: false };
  const shown = [
    renderRequest(request, { digest: text }),
    renderRequest(question, { digest: text }),
    requestNotice({ ...notice, kind: "approval", request }, about),
    requestNotice({ ...notice, kind: "question", request: question }, about),
  ]
    .join("\n")
    .replaceAll("⏸️", ""); // our own sign has a selector
  const hidden = /[[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u{2800}\u{A0}\u{3000}]--[\n\t]]/v.exec(
    shown,
  );
  if (hidden !== null) throw new Error(`U+${hidden[0].codePointAt(0)!.toString(16)} is shown raw`);
}

function isHarmless(rows: ReturnType<typeof renderRest>): void {
  const shown = JSON.stringify(rows);
  if (/\\u(?:00[01][0-9a-f]|009b)/.test(shown)) throw new Error(`a control character is left: ${shown}`);
}

async function readsTheSameInPieces(text: string): Promise<void> {
  const whole = JSON.stringify(await eventsIn([text]));
  const pieces = JSON.stringify(await eventsIn(text.match(/[^]{1,3}/g) ?? []));
  if (whole !== pieces) throw new Error(`in pieces it is ${pieces}, whole it is ${whole}`);
}

async function eventsIn(pieces: readonly string[]): Promise<unknown[]> {
  const events: unknown[] = [];
  for await (const event of readServerSentEvents(Readable.from(pieces) as AsyncIterable<string>))
    events.push(event);
  return events;
}

function webhook(text: string, type: string): unknown {
  const request = {
    header: (name: string) => (name === "content-type" ? type : undefined),
    body: Buffer.from(text),
  };
  return receiveWebhook(request, { name: "a", source: { scheme: "unsigned" }, nowMs: 0 });
}

function signature(text: string): unknown {
  const request = { header: () => text, body: Buffer.alloc(0) };
  return verifyWebhook("stripe", request, { secret: "secret", nowMs: 0 });
}

function* inPieces(text: string): Generator<string> {
  for (let at = 0; at < text.length; at += 8) yield text.slice(at, at + 8);
}

/** As a connection gives it. */
const CHUNK_LENGTH = 64 * KB;

async function* inChunks(text: string): AsyncGenerator<string> {
  for (let at = 0; at < text.length; at += CHUNK_LENGTH) {
    await setImmediate();
    yield text.slice(at, at + CHUNK_LENGTH);
  }
}

async function* inBytes(text: string): AsyncGenerator<Buffer> {
  for await (const chunk of inChunks(text)) yield Buffer.from(chunk);
}

const NUMBERS = new Map<number, string>();

/** Lines that all differ. */
function numbers(length: number): string {
  const made = NUMBERS.get(length) ?? makeNumbers(length);
  NUMBERS.set(length, made);
  return made;
}

function makeNumbers(length: number): string {
  const lines: string[] = [];
  for (let at = 0, left = length; left > 0; at++) {
    const line = at.toString(36);
    lines.push(line);
    left -= line.length + 1;
  }
  return lines.join("\n");
}

function* rendered(text: string, format: MessageFormat): Sliced<void> {
  for (const _ of renderRichText(yield* parseRichText(text), format)) yield;
}

async function fitsEverywhere(text: string): Promise<void> {
  const rich = await inSlices(parseRichText(text));
  for (const format of [telegramFormat, discordFormat, slackFormat])
    for (const { message } of cutRichText(rich, format))
      if (message.fill > 1) throw new Error(`a message is too long: ${message.wire}`);
}

/** Longer lines are not parsed. */
function inLines(text: string): string {
  return text.replaceAll(/.{8000}/g, "$&\n");
}

/** As many lines of it as a file of a team may have. */
function asFile(text: string): string {
  const lines = text.split("\n", MAX_TEAM_FILE_LINES - 10);
  return lines.join("\n");
}

/** Fences of all lengths that nobody closes: each is looked for in vain. */
function unclosedFences(): string {
  const fences = ["`", "~"].flatMap((sign) => Array.from({ length: 40 }, (_, at) => sign.repeat(43 - at)));
  return `${fences.map((fence) => `${fence} a`).join("\n")}\n<!--\n${"a\n".repeat(MAX_TEAM_FILE_LINES - 100)}`;
}

/**
 * Every command that a page shows to a reader is carried out: here, in a home that is new for each page, unless the
 * lists below name another test that does it or say why none can.
 */
import { existsSync } from "node:fs";
import { expect, test } from "vitest";

import { commandsOf, listPages, playPages, readPage } from "./support/docs.ts";

const LONG = { timeout: 300_000 };

/** Pages with a test of their own that carries out all of their commands. */
const TESTED: Readonly<Record<string, string>> = {
  "docs/reference/cli.md": "test/examples.test.ts",
  "docs/relays.md": "test/relay-docs.test.ts",
  "docs/relay-templates.md": "test/relay-docs.test.ts",
  "docs/team-adapters.md": "test/team-docs.test.ts",
  "docs/teams.md": "test/team-docs.test.ts",
  "docs/webhooks.md": "test/ways-in-docs.test.ts",
};

/** Commands that are not carried out here, with the test that does it or the reason why none does. */
const NOT_PLAYED: readonly (readonly [command: RegExp, why: string])[] = [
  [/^cortex chat\b/, "test/chat.test.ts"],
  [/^cortex up\b/, "test/cli.test.ts"],
  [/^cortex demo\b/, "test/demo.test.ts"],
  [/^cortex top\b/, "test/top.test.ts"],
  [/^cortex (events|logs)\b.* --follow\b/, "test/cli.test.ts"],
  [/^cortex team watch\b/, "test/team-docs.test.ts"],
  [/^cortex sub-agent check\b/, "test/sub-agent-check.test.ts"],
  [/^cortex channels pin\b/, "test/channel-plugins.test.ts"],
  [/^cortex service (un)?install$/, "It changes the services of whoever runs the tests."],
  [/^cortex init --yes\b/, "test/init.test.ts"],
  [/^cortex (backup|restore) .*--keys$|^cortex restore \S+$/, "test/keeping.test.ts"],
  [
    /^cortex channels (add|test|login|unpair|remove)\b|\| cortex channels add\b/,
    "test/channel-setup.test.ts",
  ],
  [/^cortex doctor --fix\b/, "test/doctor.test.ts"],
  [/^cortex doctor --dependencies\b/, "src/doctor/check-dependencies.test.ts"],
  [
    /^(sudo|brew|docker|scp|systemctl|journalctl|launchctl)\b/,
    "It changes the machine of whoever runs the tests.",
  ],
  [/^(npm|git (clone|pull)|cd \S+( && npm .*)?$)(?=\s|$)/, "It is how whoever runs the tests got here."],
];

/** What has been done before a page begins. */
const BEFORE: Readonly<Record<string, readonly string[]>> = {
  "docs/hooks.md": ["cortex hooks new school-emails"],
  "docs/plugins.md": ["mkdir -p ~/.cortex/plugins/reviewer"],
  "docs/troubleshooting.md": ["cortex team init", 'cortex relay run doc-review "Explain relays" --wait'],
  "docs/keeping.md": ['cortex fork <turn> "and tomorrow?" --session tomorrow --wait'],
};

/** Not everything that is looked at is without fault. */
const MAY_FAIL = /^cortex (doctor|agents check|team lint)\b/;

/** For commands that are found on no page yet. */
const SAMPLE = [
  "cortex approvals deny <id> no",
  "cortex approvals answer <id> this",
  "cortex relay show <relay>",
];

const shown = listPages().map((page) => ({ page, commands: commandsOf(readPage(page)) }));
const pages = [...shown, { page: "sample", commands: SAMPLE }]
  .filter(({ page }) => TESTED[page] === undefined)
  .map(({ page, commands }) => ({
    page,
    before: BEFORE[page] ?? [],
    commands: commands.filter((line) => whyNotPlayed(line) === undefined),
  }))
  .filter(({ commands }) => commands.length > 0);

function whyNotPlayed(command: string): string | undefined {
  const withoutVariables = command.replace(/^(\w+=\S* +)+/, "");
  return NOT_PLAYED.find(([pattern]) => pattern.test(withoutVariables))?.[1];
}

test("the commands of all pages do what they are shown for", LONG, async () => {
  const played = await playPages(pages);
  const failed = played.filter(({ command, code }) => code !== 0 && !(code === 1 && MAY_FAIL.test(command)));
  expect(failed).toEqual([]);
  expect(played.length).toBe(pages.flatMap(({ before, commands }) => before.concat(commands)).length);
  expect(played.length).toBeGreaterThan(40);
});

test("a test that is named instead is there, and about the page", () => {
  for (const [page, path] of Object.entries(TESTED)) {
    expect(listPages()).toContain(page);
    expect(readPage(path)).toContain(page);
  }
  const named = shown
    .flatMap(({ commands }) => commands.map(whyNotPlayed))
    .filter((why) => why?.endsWith(".test.ts"));
  expect(named.length).toBeGreaterThan(5);
  for (const path of new Set(named)) expect([path, existsSync(path!)]).toEqual([path, true]);
});

test("a page is taken apart into commands as a shell reads them", () => {
  const page = [
    "```sh",
    "# a comment",
    'npx cortex send "no # comment"  # a comment',
    "echo hello | npx cortex chat",
    "```",
    "```console",
    "$ npx cortex log  # typed",
    "cortex is not typed here",
    "```",
    "```sh",
    "NAME=value",
    "cortex show $NAME \\",
    "  --json",
    "```",
    "```sh",
    "CORTEX_PORT=1 npx cortex up",
    "cd cortex && node bin/cortex.js log",
    "```",
    "```text",
    "cortex nothing",
    "```",
  ].join("\n");
  expect(commandsOf(page)).toEqual([
    'cortex send "no # comment"',
    "echo hello | cortex chat",
    "cortex log",
    "NAME=value\ncortex show $NAME \\\n  --json",
    "CORTEX_PORT=1 cortex up",
    "cd cortex && cortex log",
  ]);
  expect(whyNotPlayed("CORTEX_PORT=1 cortex up")).toBe("test/cli.test.ts");
});

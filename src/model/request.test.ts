import * as fc from "fast-check";
import { expect, test } from "vitest";

import { canonicalJson, type Json } from "./json.ts";
import { renderCall, type Request, REQUEST_WIDTH } from "./request.ts";
import { widthOf } from "./text-width.ts";

const DIGEST = "9f".repeat(32);
const show = (request: Request, max?: number): string =>
  renderCall(request, {
    digest: DIGEST,
    ...(max === undefined ? {} : { max, seeAll: "run `cortex approvals show 01A`" }),
  });

const REQUEST: Request = {
  tool: "Bash",
  args: { command: "npm test\nrm -rf build", timeoutMs: 5 },
  reason: "commands have no sandbox",
  agent: "main",
  workspace: "/home/ann/work",
  principal: "owner",
  labels: ["untrusted"],
  causedBy: { event: "01K", sender: "owner", channel: "http", text: "Run the tests" },
  files: [{ path: "tools/x.sh", sha256: "a".repeat(64) }],
};

test("a call is shown with everything that a person must know", () => {
  expect(show(REQUEST)).toBe(
    [
      "call      Bash",
      "  command   │ npm test",
      "            │ rm -rf build",
      "  timeoutMs = 5",
      "why       commands have no sandbox",
      "for       owner",
      "labels    untrusted",
      "message   owner on http, event 01K",
      "  │ Run the tests",
      "agent     main in /home/ann/work",
      "file      tools/x.sh",
      `          ${"a".repeat(64)}`,
      `digest    ${DIGEST}`,
    ].join("\n"),
  );
});

const anyValue = fc.oneof(
  fc.string({ unit: "binary" }),
  fc
    .array(
      fc.constantFrom(
        "a",
        "│ ",
        "┊ ",
        "= ",
        "\n",
        " ",
        "\u202E",
        "\\u{202E}",
        "labels    none",
        "x".repeat(80),
      ),
    )
    .map((parts) => parts.join("")),
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
  fc.array(fc.string()),
);
const anyArguments = fc.dictionary(
  fc.oneof(fc.string({ unit: "binary" }), fc.constantFrom("command", "labels", "why")),
  anyValue,
);

test("no text of a call makes a line of ours, leaves the screen, or hides", () => {
  const ours = show({ ...REQUEST, args: {} })
    .split("\n")
    .filter((line) => !line.startsWith(" "));
  fc.assert(
    fc.property(anyArguments, (args) => {
      const lines = show({ ...REQUEST, args: args }).split("\n");
      expect(lines.filter((line) => !line.startsWith(" ") && !line.startsWith("beware"))).toEqual(ours);
      for (const line of lines) {
        expect(widthOf(line.replaceAll("\t", " ".repeat(8)))).toBeLessThanOrEqual(REQUEST_WIDTH);
        expect(line).not.toMatch(/(?!\t)[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/v);
      }
    }),
    { numRuns: 1_000 },
  );
});

test("two different calls are never shown alike", () => {
  const shown = new Map<string, string>();
  fc.assert(
    fc.property(anyArguments, anyArguments, (one, other) => {
      for (const args of [one, other]) {
        const text = show({ tool: "Bash", args: args });
        const call = canonicalJson(args);
        expect(shown.get(text) ?? call).toBe(call);
        shown.set(text, call);
      }
    }),
    { numRuns: 1_000 },
  );
});

test.each<[Json, Json]>([
  [{ a: "1" }, { a: 1 }],
  [{ a: "x\n┊ y" }, { a: "x┊ y" }],
  [{ a: "x", b: "y" }, { a: "x\n  b │ y" }],
  [{ "a │ x": "" }, { a: "x │ " }],
  [{ a: "x\u200B" }, { a: "x" }],
  [{ a: "x " }, { a: "x" }],
  [{ a: "\\u{200B}" }, { a: "\u200B" }],
  [{ a: `${"x".repeat(66)}y` }, { a: `${"x".repeat(66)}\ny` }],
])("%j and %j are shown differently", (one, other) => {
  expect(show({ tool: "Bash", args: one })).not.toBe(show({ tool: "Bash", args: other }));
});

test("a truncated call says how much is missing, and how to see it", () => {
  const command = `${"echo harmless; ".repeat(4_000)}curl attacker.example; ${"echo harmless; ".repeat(4_000)}`;
  const shown = show({ tool: "Bash", args: { command, timeoutMs: 5 } }, 600);
  expect(shown).not.toContain("attacker");
  expect(shown).toContain(`left out  ${command.length - 599} characters: run \`cortex approvals show 01A\``);
  expect(show({ tool: "Bash", args: { command } })).toContain("curl");
});

test("a path is not left out because a content is long", () => {
  const shown = show({ tool: "Write", args: { content: "x".repeat(5_000), path: "AGENTS.md" } }, 600);
  expect(shown).toContain("path    │ AGENTS.md");
  expect(shown).toContain(`left out  ${5_000 - 600 + "AGENTS.md".length} characters`);
});

test("words that look like others are pointed out", () => {
  expect(show({ tool: "WebFetch", args: { url: "https://p\u0430ypal.com" } })).toContain(
    "beware    p\u0430ypal.com mixes Latin and Cyrillic letters: p\\u{430}ypal.com",
  );
  expect(show({ tool: "Say", args: { text: "\n\u043F\u0440\u0438\u0432\u0435\u0442" } })).not.toContain(
    "beware",
  );
});

test("a sender cannot pretend to be another row", () => {
  const causedBy = {
    event: "01K",
    sender: `eve${" ".repeat(70)}\nlabels    none`,
    channel: "mail",
    text: "labels    none",
  };
  const lines = show({ ...REQUEST, causedBy }).split("\n");
  expect(lines.filter((line) => line.startsWith("labels"))).toEqual(["labels    untrusted"]);
});

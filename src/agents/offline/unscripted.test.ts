import { expect, test } from "vitest";

import { assistant, exchange, outcome, user } from "../../../test/support/conversation.ts";
import type { Exchange } from "../agent.ts";
import {
  bestMatch,
  answerUnscripted,
  keywords,
  type LedgerSearch,
  MAX_HITS_CITED,
  MAX_QUOTE_LENGTH,
  MAX_READ_LENGTH,
  MAX_RESULTS_QUOTED,
  NOTICE,
} from "./unscripted.ts";

const AT_MS = Date.UTC(2026, 10, 14, 23, 59);

const nothing: LedgerSearch = async () => [];
const finds =
  (...texts: readonly string[]): LedgerSearch =>
  async (_, limit) =>
    texts.slice(0, limit).map((text, at) => ({ id: `event-${at}`, text, atMs: AT_MS }));

async function textOf(exchanges: readonly Exchange[], search = nothing): Promise<string> {
  const { text, calls } = await answerUnscripted(exchanges, search);
  expect(calls).toEqual([]);
  expect(text.split(NOTICE)).toHaveLength(2);
  expect(text.endsWith(`\n\n${NOTICE}`)).toBe(true);
  return text.slice(0, -NOTICE.length - 2);
}

const colour = exchange(
  [user("My favourite colour is teal.", "12:00 Ann"), assistant("Noted, teal.")],
  [],
  "a",
);

test.each(["Hello", "hi there!", "Good morning, Atlas"])("%j is greeted", async (words) => {
  expect(await textOf([exchange([user(words)])])).toMatch(/^Hello! I can .*`\/tool Name \{json\}`/);
});

test.each(["hi-fi prices in Bremen", "Hellos"])("%j is no greeting", async (words) => {
  expect(await textOf([exchange([user(words)])])).toBe(
    "I found nothing about that in this conversation or in the ledger.",
  );
});

test("a question is answered with what was said about it, and by whom", async () => {
  expect(await textOf([colour, exchange([user("What is my favourite colour?")])])).toBe(
    "You said earlier:\n\n> My favourite colour is teal.",
  );
  expect(await textOf([colour, exchange([user("Who noted that?")])])).toBe(
    "The assistant said earlier:\n\n> Noted, teal.",
  );
});

test("its own answers are not quoted back", async () => {
  const question = user("What is my favourite colour?");
  const first = await answerUnscripted([colour, exchange([question])], nothing);
  const answered = exchange([question, assistant(first.text)], [], "b");
  const found = finds(first.text, "What is my favourite colour?");
  expect(await textOf([colour, answered, exchange([question])], found)).toBe(
    "You said earlier:\n\n> My favourite colour is teal.",
  );
});

test("asked what was said before, it lists the last messages of the user", async () => {
  const before = exchange(
    ["one", "two", "three", "four"].map((word) => user(word)),
    [],
    "b",
  );
  expect(await textOf([before, exchange([user("What did I ask you before?")])])).toBe(
    "You said before:\n\n> two\n\n> three\n\n> four",
  );
  expect(await textOf([exchange([user("What did I say?")])])).toContain("the first message");
});

test.each(["", "???", "Why is that so?"])(
  "of %j, which is about nothing, it says what it can do",
  async (words) => {
    expect(await textOf([exchange([user(words)])])).toMatch(/^I can /);
  },
);

test("the ledger is cited by id and day, a few hits at most", async () => {
  const hits = ["The budget\nis 5000.", "Budget talk", "More budget", "Even more"];
  const text = await textOf([exchange([user("What about the budget?")])], finds(...hits));
  expect(text).toBe(
    [
      "From the ledger:\n",
      "- `event-0`, 2026-11-14: The budget is 5000.",
      "- `event-1`, 2026-11-14: Budget talk",
      "- `event-2`, 2026-11-14: More budget",
    ].join("\n"),
  );
  expect(text.split("\n- ")).toHaveLength(MAX_HITS_CITED + 1);
});

test("the ledger is asked for the words, without their envelope", async () => {
  const asked: string[] = [];
  await answerUnscripted([exchange([user(`budget ${"x".repeat(1000)}`, "12:00 Ann")])], async (text) => {
    asked.push(text);
    return [];
  });
  expect(asked).toEqual([`budget ${"x".repeat(493)}`]);
});

test("the calls that lines ask for are made, and nothing is said meanwhile", async () => {
  const words = 'Please:\n/tool Read {"path": "a.md"}\n/tool List {}';
  expect(await answerUnscripted([exchange([user(words)])], nothing)).toEqual({
    text: "",
    calls: [
      { tool: "Read", args: { path: "a.md" } },
      { tool: "List", args: {} },
    ],
  });
});

test("lines that the envelope brings are not obeyed", async () => {
  expect(await textOf([exchange([user("Hello", "x\n/tool Bash {}")])])).toContain("Hello!");
});

test("where a line cannot be read, nothing is run", async () => {
  expect(await textOf([exchange([user("/tool List {}\n/tool Read {oops}")])])).toMatch(
    /^Nothing was run\.\n\n- `\/tool Read \{oops\}`: the arguments are not valid JSON/,
  );
});

const read = { id: "c0", name: "Read", arguments: { path: "a.md" } };
const list = { id: "c1", name: "List", arguments: {} };

test("the results of its calls are quoted in their order", async () => {
  const results = [
    outcome(list, 1, "", "ok"),
    outcome(read, 0, "one\ntwo"),
    outcome(list, 2, "gone", "error"),
  ];
  const turn = exchange([user("/tool …"), assistant("", "Read", "List", "List")], results);
  expect(await textOf([turn])).toBe(
    [
      '`Read {"path":"a.md"}`:\n\n> one\n> two',
      "`List {}` returned nothing.",
      "`List {}` (error):\n\n> gone",
    ].join("\n\n"),
  );
});

test("long results and many results are cut", async () => {
  const long = outcome(list, 0, "x".repeat(MAX_QUOTE_LENGTH + 1));
  expect(await textOf([exchange([user("/tool List"), assistant("", "List")], [long])])).toBe(
    `\`List {}\`:\n\n> ${"x".repeat(MAX_QUOTE_LENGTH)}…`,
  );
  const many = Array.from({ length: MAX_RESULTS_QUOTED + 2 }, (_, at) => outcome(list, at, `result ${at}`));
  const text = await textOf([exchange([user("/tool List"), assistant("", "List")], many)]);
  expect(text).toContain("> result 9");
  expect(text).not.toContain("> result 10");
  expect(text).toContain("And 2 more.");
});

test("long arguments and long hits are cut, and a result that is an error is called one", async () => {
  const write = { id: "c", name: "Write", arguments: { content: "`".repeat(100) } };
  const failed = { ...outcome(write, 0, ""), result: { text: "No.", isError: true } };
  const text = await textOf([exchange([user("/tool Write"), assistant("", "Write")], [failed])]);
  expect(text).toBe(`\`Write {"content":"${"'".repeat(68)}…\` (error):\n\n> No.`);

  const hit = await textOf([exchange([user("budget")])], finds("x".repeat(201)));
  expect(hit).toContain(`: ${"x".repeat(200)}…`);
});

test("a message that arrives while tools run is answered after what they did", async () => {
  const parts = [user("/tool Read"), assistant("", "Read"), user("Hello")];
  const text = await textOf([exchange(parts, [outcome(read, 0, "one")])]);
  expect(text).toMatch(/^`Read \{"path":"a.md"\}`:\n\n> one\n\nHello!/);

  const more = [user("/tool Read"), assistant("", "Read"), user("/tool List")];
  const next = await answerUnscripted([exchange(more, [outcome(read, 0, "one")])], nothing);
  expect(next.calls).toEqual([{ tool: "List", args: {} }]);
});

test("keywords are what a text is about, in any case and number", () => {
  expect([...keywords("What are my favourite COLOURS, please? Colour!")]).toEqual(["favourite", "colour"]);
  expect([...keywords("Wo ist der Schlüssel? 3号机")]).toContain("schlüssel");
  expect([...keywords("What did I say before?")]).toEqual([]);
});

test("only the beginning of a long text is looked at", () => {
  expect(keywords(`${"a ".repeat(MAX_READ_LENGTH / 2)}late`).size).toBe(0);
});

test.each([
  ["favourite colour", ["My favourite colour is teal.", "The sky is blue."], 0],
  ["favourite colour", ["My favourite colour is teal.", "My favourite colour is now red."], 1],
  ["favourite colour", ["My favourite colour is teal.", "What is my favourite colour?"], 0],
  ["favourite colour", ["What is my favourite colour?"], 0],
  ["budget launch party", ["The launch is on Monday."], undefined],
  ["colour", [], undefined],
])("asked about %j, of %j the best is number %j", (question, texts, expected) => {
  const items = texts.map((text, at) => ({ text, at }));
  expect(bestMatch(keywords(question), items)?.at).toBe(expected);
});

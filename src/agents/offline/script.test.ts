import * as fc from "fast-check";
import { expect, test } from "vitest";
import { rename, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { CortexError } from "../../model/errors.ts";
import { MAX_ARGUMENTS_DEPTH } from "../agent.ts";
import { MAX_CALLS } from "./tool-lines.ts";
import { FAULT_KINDS } from "./fault.ts";
import {
  createScriptReader,
  MAX_PLAY_DELAY_MS,
  MAX_WHEN_LENGTH,
  MAX_SCRIPT_BYTES,
  MAX_SCRIPTS_KEPT,
  parseScript,
} from "./script.ts";
import { temporaryFolder } from "../../../test/support/temporary.ts";

const FILE = "/home/me/play.yaml";

test("a script is read with its defaults", async () => {
  const [entry] = await parseScript(
    '- {when: "^hi", agent: Main, plays: [{say: hello, calls: [{tool: List}]}]}',
    FILE,
  );
  expect(entry?.when).toBe("^hi");
  expect(entry?.agent).toBe("main");
  expect(entry?.plays).toEqual([{ say: "hello", calls: [{ tool: "List", args: {} }], delayMs: 0 }]);
});

test.each(FAULT_KINDS)("the fault %s is known, by its name alone and with settings", async (kind) => {
  const calls = "calls: [{tool: A}, {tool: B}]";
  const text = `- {when: x, plays: [{${calls}, fault: ${kind}}, {${calls}, fault: {kind: ${kind}, times: 2}}]}`;
  const plays = (await parseScript(text, FILE))[0]?.plays;
  expect(plays?.map(({ fault }) => fault)).toEqual([{ kind }, { kind, times: 2 }]);
});

test.each([
  ["", "a list of entries"],
  ["when: x", "a list of entries"],
  ["- when: [", "at line 1"],
  ["- {when: x, when: y, plays: [{say: a}]}", "Map keys must be unique"],
  ["- &a {when: x, plays: [{say: a}]}\n- *a", "aliases (`*name`) and keys"],
  ["[".repeat(20_000), "Invalid script"],
  ["- {plays: [{say: a}]}", "entry 1, when: "],
  ["- {when: '(', plays: [{say: a}]}", "entry 1, when: "],
  ["- {when: '(a)\\1', plays: [{say: a}]}", "entry 1, when: "],
  ["- {when: '', plays: [{say: a}]}", "entry 1, when: "],
  [`- {when: '${"a".repeat(MAX_WHEN_LENGTH + 1)}', plays: [{say: a}]}`, "entry 1, when: "],
  ["- {when: x, agent: 'no one', plays: [{say: a}]}", 'entry 1, agent: Invalid agent id "no one"'],
  ["- {when: x, plays: []}", "entry 1, plays: "],
  ["- {when: x, plays: [{}]}", "entry 1, play 1: it needs `say`, `calls` or `fault`"],
  [
    "- {when: x, plays: [{say: 5}]}",
    "entry 1, play 1, say: Invalid input: expected string, received number (got 5)",
  ],
  ["- {when: x, plays: [{say: a, sya: b}]}", 'entry 1, play 1: Unrecognized key: "sya"'],
  [`- {when: x, plays: [{say: a, delayMs: ${MAX_PLAY_DELAY_MS + 1}}]}`, "entry 1, play 1, delayMs: "],
  [
    "- {when: x, plays: [{say: a, fault: burnt}]}",
    'entry 1, play 1, fault, kind: Invalid option: expected one of "429"',
  ],
  ["- {when: x, plays: [{say: a, fault: {kind: cut, times: 0}}]}", "entry 1, play 1, fault, times: "],
  ["- {when: x, plays: [{say: a, fault: {kind: cut, times: 1001}}]}", "entry 1, play 1, fault, times: "],
  ["- {when: x, plays: [{fault: unknown-tool}]}", "needs 1 or more `calls`"],
  ["- {when: x, plays: [{calls: [{tool: A}], fault: duplicate-ids}]}", "needs 2 or more `calls`"],
  ["- {when: x, plays: [{calls: [{tool: A}, {args: {}}]}]}", "entry 1, play 1, call 2, tool: "],
  ["- {when: x, plays: [{calls: [{tool: A, args: [1]}]}]}", "entry 1, play 1, call 1, args: "],
  [`- {when: x, plays: [{calls: [${"{tool: A},".repeat(MAX_CALLS + 1)}]}]}`, "entry 1"],
  [nested(MAX_ARGUMENTS_DEPTH + 1), "entry 1, play 1, call 1, args: Invalid JSON value: nested"],
  [`# ${" ".repeat(MAX_SCRIPT_BYTES)}`, `(limit ${MAX_SCRIPT_BYTES})`],
])("of broken script %# it is said what is wrong", async (text, problem) => {
  const error = await failureOf(text);
  expect(error?.code).toBe("script_invalid");
  expect(error?.message).toContain(FILE);
  expect(error?.message).toContain(problem);
  expect(error?.hint).toContain("docs/offline.md");
});

test("a long value is cut where it is quoted", async () => {
  const { message } = (await failureOf(
    `- {when: x, agent: "a", plays: [{say: a, delayMs: "${"1".repeat(100)}"}]}`,
  ))!;
  expect(message).toContain(`(got "${"1".repeat(59)}…)`);
});

test("what is at its limit is accepted", async () => {
  const texts = [
    nested(MAX_ARGUMENTS_DEPTH),
    `- {when: '${"a".repeat(MAX_WHEN_LENGTH)}', plays: [{say: a, delayMs: ${MAX_PLAY_DELAY_MS}}]}`,
    `- {when: x, plays: [{calls: [${"{tool: A},".repeat(MAX_CALLS)}]}]}`,
    "[]".padEnd(MAX_SCRIPT_BYTES),
  ];
  for (const text of texts) await expect(parseScript(text, FILE)).resolves.toBeDefined();
});

test("everything that is wrong is said at once, up to a point", async () => {
  const message = (
    await failureOf("- {when: '(', plays: [{}]}\n- {when: x}\n- {when: ')', plays: [{say: a}]}")
  )?.message;
  for (const place of ["entry 1, when", "entry 2, plays", "entry 3, when"]) expect(message).toContain(place);
  expect((await failureOf("- {}\n".repeat(100)))?.message).toContain("and 180 more");
});

test("no text makes anything but a script or a complaint about it", async () => {
  const piece = fc.constantFrom(
    "- ",
    "when: ",
    "plays: ",
    "say: ",
    "{",
    "}",
    "[",
    "]",
    "\n",
    "  ",
    "x",
    "&a ",
    "*a",
    "!!",
    "?",
  );
  const text = fc.array(fc.oneof(piece, fc.string()), { maxLength: 40 }).map((pieces) => pieces.join(""));
  await fc.assert(
    fc.asyncProperty(text, async (script) => {
      expect(["script_invalid", undefined]).toContain((await failureOf(script))?.code);
    }),
    { numRuns: 500 },
  );
});

function nested(depth: number): string {
  return `- {when: x, plays: [{calls: [{tool: A, args: ${"{a: ".repeat(depth)}1${"}".repeat(depth)}}]}]}`;
}

async function failureOf(text: string): Promise<CortexError | undefined> {
  try {
    await parseScript(text, FILE);
  } catch (error) {
    if (error instanceof CortexError) return error;
    throw error;
  }
  return undefined;
}

const say = (text: string): string => `- {when: x, plays: [{say: ${text}}]}\n`;

test("a script is read once, and again when its file has changed", async () => {
  using folder = temporaryFolder();
  const file = join(folder.path, "play.yaml");
  await writeFile(file, say("one"));
  const read = createScriptReader();
  const first = await read(file);
  expect(await read(file)).toBe(first);

  await writeFile(file, say("other"));
  const second = await read(file);
  expect(second[0]?.plays[0]?.say).toBe("other");

  await utimes(file, 0, 0);
  expect(await read(file)).not.toBe(second);

  await writeFile(`${file}.new`, say("third"));
  await utimes(`${file}.new`, 0, 0);
  await rename(`${file}.new`, file);
  expect((await read(file))[0]?.plays[0]?.say).toBe("third");
});

test("a script that was broken can be played when it is corrected", async () => {
  using folder = temporaryFolder();
  const file = join(folder.path, "play.yaml");
  await writeFile(file, "- {");
  const read = createScriptReader();
  await expect(read(file)).rejects.toMatchObject({ code: "script_invalid" });
  await writeFile(file, say("well"));
  expect(await read(file)).toHaveLength(1);
});

test("of many scripts, the one that was read first makes room", async () => {
  using folder = temporaryFolder();
  const files = Array.from({ length: MAX_SCRIPTS_KEPT + 1 }, (_, at) => join(folder.path, `${at}.yaml`));
  await Promise.all(files.map(async (file) => writeFile(file, say("a"))));
  const read = createScriptReader();
  const first = await read(files[0]!);
  const second = await read(files[1]!);
  for (const file of files.slice(2)) await read(file);
  expect(await read(files[1]!)).toBe(second);
  expect(await read(files[0]!)).not.toBe(first);
});

test("a file that is missing, too large or none is named", async () => {
  using folder = temporaryFolder();
  const file = join(folder.path, "play.yaml");
  await writeFile(file, "#".padEnd(MAX_SCRIPT_BYTES + 1));
  const read = createScriptReader();
  await expect(read(file)).rejects.toThrow(`${file}: it has`);
  await expect(read(`${file}.gone`)).rejects.toThrow(`${file}.gone: the file cannot be read`);
  await expect(read(folder.path)).rejects.toThrow(`${folder.path}: it is not a file`);
});

/**
 * Every reader of others' texts, with the texts that are worst for it: none may keep others waiting, and four times the
 * text may take no more than a bit more than four times the work. Work is the processor's time of this thread, the
 * least of several runs, so that it counts for nothing what else the machine does.
 */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

import { CHARACTERS_AT_ONCE, htmlToText } from "../src/agents/tools/html-to-text.ts";
import { inSlices, type Sliced } from "../src/model/in-slices.ts";
import { checkSkill } from "../src/personas/skill-file.ts";
import { OWN, PARSERS, type Parser } from "./parsers.ts";

/** A good machine takes a quarter of it. */
const MAX_HELD_MS = 250;
/** Below this nothing is said about growth. */
const SHORT_MS = 50;
/** Four times the text is four times the work; noise and collected memory make some more of it, the square would be 16 times. */
const MAX_GROWTH = 10;
/** How often each is measured: a measurement that says that all is well need not be repeated. */
const RUNS = 6;
/** What else the machine does may slow down one measurement, but not all of them. */
const ATTEMPTS = 3;

const CASES = PARSERS.flatMap((parser) => parser.worst.map((unit) => ({ ...parser, unit })));

test.each(CASES)("$name: $unit over and over keeps nobody waiting", { timeout: 120_000 }, async (given) => {
  const mayHoldMs = OWN.has(given.name) ? Infinity : MAX_HELD_MS;
  const whole = await leastWork(given, given.length, ({ held }) => held < mayHoldMs);
  expect(whole.held).toBeLessThan(mayHoldMs);
  let growth = whole.total < SHORT_MS ? 0 : Infinity;
  for (let attempt = 0; attempt < ATTEMPTS && growth >= MAX_GROWTH; attempt++) {
    const isFirst = attempt === 0;
    const quarter = await leastWork(given, given.length / 4, () => isFirst);
    const all = isFirst ? whole : await leastWork(given, given.length);
    growth = all.total / quarter.total;
  }
  expect(growth).toBeLessThan(MAX_GROWTH);
});

test("the page on security names them all, and no others", () => {
  const page = readFileSync(new URL("../docs/security.md", import.meta.url), "utf8");
  const table = /^\| what is read .*\n\|[-| ]+\n((?:\|.*\n)+)/m.exec(page)![1]!;
  const rows = table.trimEnd().split("\n");
  const listed = rows.map((row) => row.split("|")[1]!.trim());
  expect(listed.toSorted()).toEqual([...new Set(PARSERS.map(({ name }) => name))].toSorted());
});

interface Work {
  /** All of it. */
  readonly total: number;
  /** The longest time without a turn for others. */
  readonly held: number;
}

async function leastWork(
  { read, unit }: Pick<Parser, "read"> & { readonly unit: string },
  length: number,
  isEnough: (work: Work) => boolean = () => false,
): Promise<Work> {
  const text = unit.repeat(Math.ceil(length / unit.length) - 1);
  let least: Work = { total: Infinity, held: Infinity };
  for (let run = 0; run < RUNS && !isEnough(least); run++) {
    const { total, held } = await measure(() => read(text));
    least = { total: Math.min(least.total, total), held: Math.min(least.held, held) };
  }
  return least;
}

async function measure(work: () => unknown): Promise<Work> {
  const begunMs = usedMs();
  let turnMs = begunMs;
  let held = 0;
  let next = setImmediate(count);
  function count(): void {
    held = Math.max(held, usedMs() - turnMs);
    turnMs = usedMs();
    next = setImmediate(count);
  }
  try {
    await work();
  } catch {
    // Refusing a text is an end like any other.
  }
  clearImmediate(next);
  const endedMs = usedMs();
  return { total: endedMs - begunMs, held: Math.max(held, endedMs - turnMs) };
}

function usedMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

/** How often others get their turn meanwhile. */
class Turns implements Disposable {
  count = 0;
  #next = setImmediate(() => this.#pass());

  #pass(): void {
    this.count += 1;
    this.#next = setImmediate(() => this.#pass());
  }

  [Symbol.dispose](): void {
    clearImmediate(this.#next);
  }
}

test("work in slices gives others their turn, and ends with its result or its error", async () => {
  using turns = new Turns();
  function* busy(untilTurn: number): Sliced<string> {
    while (turns.count < untilTurn) yield;
    if (untilTurn > 2) throw new Error("broken");
    return "done";
  }
  await expect(inSlices(busy(2))).resolves.toBe("done");
  await expect(inSlices(busy(4))).rejects.toThrow("broken");
});

test("a page without a tag is read in parts, between which others get their turn", async () => {
  using turns = new Turns();
  const text = "a &amp; b ".repeat(CHARACTERS_AT_ONCE);
  const base = new URL("https://example.test/");
  const page = await htmlToText(text, { base, signal: new AbortController().signal });
  expect(turns.count).toBeGreaterThan(2);
  expect(page.text).toBe(text.replaceAll("&amp;", "&").trim());
});

test("a skill whose keys are nested maps is refused at once", async () => {
  const { problems } = checkSkill(`---\n${"? ".repeat(200)}a\n---\n`, "a");
  expect(problems.join()).toContain("keys that are not strings");
});

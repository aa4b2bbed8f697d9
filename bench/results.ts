// What was measured last, of every benchmark: the goals in results.json, from which the summary is made, and the
// tables in RESULTS.md below it. Saving one benchmark keeps what is known of the others.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Goal } from "./goal.ts";
import { table } from "./table.ts";

/** By the name of the benchmark. */
export type Results = Readonly<Record<string, Result>>;

export interface Result {
  readonly measured: string;
  readonly commit: string;
  readonly goals: readonly Goal[];
}

/** The benchmarks there are, in the order in which they are told of. */
export type Titles = Readonly<Record<string, string>>;

const FOLDER = import.meta.dirname;

const HEAD = `# Results

Ratios are what counts; the absolute numbers are this machine's. A figure stands beside the peer or the limit that was
measured in the same run, and the sections below say how. \`npm run bench -- --save\` measures all of it again.
`;

export function readResults(folder: string = FOLDER): Results {
  return JSON.parse(readFileSync(join(folder, "results.json"), "utf8")) as Results;
}

/** One table of all goals, and what is missing from it. */
export function summarize(results: Results, names: readonly string[]): string {
  const goals = names.flatMap((name) => results[name]?.goals ?? []);
  const rows = names.flatMap((name) => rowsOf(name, results[name]));
  const missed = goals.filter(({ verdict }) => verdict === "missed").length;
  const unknown = names.filter((name) => results[name] === undefined);
  return [
    table(["bench", "what", "goal", "figure", "goal is", "peer or limit", "measured"], rows),
    `${goals.length} goals, ${missed} missed.${unknown.length === 0 ? "" : ` Not measured yet: ${unknown.join(", ")}.`}\n`,
  ].join("\n");
}

function rowsOf(name: string, result: Result | undefined): string[][] {
  if (result === undefined) return [];
  const measured = `${result.measured}, ${result.commit}`;
  return result.goals.map(({ what, goal, figure, verdict, beside }) => {
    const shown = verdict === "missed" ? "**missed**" : verdict;
    return [name, what, goal, figure, shown, beside, measured];
  });
}

/** Writes what was measured into both files. A section is found by its title. */
export function saveResult(
  { name, result, section }: { name: string; result: Result; section: string },
  titles: Titles,
  folder: string = FOLDER,
): void {
  const results = { ...readResults(folder), [name]: result };
  const names = Object.keys(titles);
  const path = join(folder, "RESULTS.md");
  const sections = new Map(
    readFileSync(path, "utf8")
      .split(/^(?=## )/m)
      .slice(1)
      .map((text) => [/^## (.*)$/m.exec(text)![1]!, text]),
  );
  sections.set(titles[name]!, section);
  const known = names.flatMap((each) => sections.get(titles[each]!)?.trimEnd() ?? []);
  const inOrder = Object.fromEntries(
    names.flatMap((each) => (results[each] === undefined ? [] : [[each, results[each]]])),
  );
  writeFileSync(join(folder, "results.json"), `${JSON.stringify(inOrder, null, 2)}\n`);
  writeFileSync(path, [HEAD, summarize(results, names), ...known.map((text) => `${text}\n`)].join("\n"));
}

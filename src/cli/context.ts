/** The context of a session's model and the tokens of each part. */
import { MAIN_SESSION, normalizeSessionKey } from "../model/session-key.ts";
import { type ContextView, contextView, readContext } from "../insight/context-view.ts";
import { openContextSources } from "../runtime/context-sources.ts";
import type { Invocation } from "../feature/command.ts";
import { openLedger } from "../client/ledger.ts";
import type { Printer } from "../terminal/print.ts";
import { count, firstLine, harmless, indent, moment, table } from "../terminal/text.ts";

const MAX_NAME_LENGTH = 60;
/** Older turns share one line; `--json` prints all of them. */
export const MAX_TURNS_SHOWN = 20;

type Part = ContextView["parts"][number];

export async function context({ home, args, options, environment, print }: Invocation): Promise<void> {
  const key = normalizeSessionKey(args[0] ?? MAIN_SESSION);
  const full = options["full"] === true;
  await using ledger = await openLedger(home);
  const sources = await openContextSources({ home, environment, ledger });
  const view = contextView(await readContext(key, sources), { full });
  print.data(view, () => describe(view, full, print));
}

function describe(view: ContextView, full: boolean, print: Printer): string {
  const { window, tokens, counted, sums } = view;
  const groups = sums.flatMap(({ kind, tokens: sum }) =>
    groupRows(
      kind,
      sum,
      view.parts.filter((part) => part.kind === kind),
      print,
    ),
  );
  const total = ["total", column(tokens), shareOf(tokens, window)];
  const facts = table([
    ["session", `${view.session}, agent ${view.agent}, persona ${view.persona}`],
    ["model", `${view.model ?? "unnamed"}, profile ${view.profile}`],
    ...(counted === tokens ? [] : [["counted", `${number(counted)} tokens, partly counted by the provider`]]),
    ...(view.compactionDue ? [["next", "too long: it is compacted before the next model call"]] : []),
  ]);
  const labels = view.labels.map(({ label, from, at }) => [label, from, moment(at)]);
  const wrong = view.problems.map(({ path, problem }) => `${path}: ${problem}`);
  const texts = full ? view.parts.filter(({ text }) => text !== "").map((part) => textOf(part, print)) : [];
  const origins =
    labels.length === 0 ? [] : [table([["LABEL", "FROM", "SINCE"], ...labels].map(harmlessRow))];
  return [
    facts,
    table([...groups, total]),
    ...origins,
    ...(wrong.length === 0 ? [] : [wrong.join("\n")]),
    ...texts,
  ].join("\n\n");
}

/** Names of files and events are others' words. */
function harmlessRow(row: readonly string[]): string[] {
  return row.map(harmless);
}

function groupRows(kind: Part["kind"], tokens: number, parts: readonly Part[], print: Printer): string[][] {
  if (parts.length === 0) return [];
  const rows = lines(parts).map(({ name, tokens: own, note }) => [
    `  ${name}`,
    column(own),
    print.style("yellow", note),
  ]);
  const size = kind === "history" ? count(parts.length, "turn") : "";
  return [[kind, column(tokens), print.style("dim", size)], ...rows];
}

interface Line {
  readonly name: string;
  readonly tokens: number;
  readonly note: string;
}

function lines(parts: readonly Part[]): Line[] {
  const isHistory = parts[0]?.kind === "history";
  const older = isHistory ? parts.slice(0, -MAX_TURNS_SHOWN) : [];
  const shown = parts.slice(older.length).map(({ name, turnId, tokens, note }) => ({
    name: `${turnId === null ? "" : `${turnId} `}${firstLine(name, MAX_NAME_LENGTH)}`,
    tokens,
    note: note ?? "",
  }));
  if (older.length === 0) return shown;
  const tokens = older.reduce((sum, part) => sum + part.tokens, 0);
  return [{ name: count(older.length, "older turn"), tokens, note: "" }, ...shown];
}

function shareOf(tokens: number, window: number | null): string {
  if (window === null) return "context window unknown";
  return `${((100 * tokens) / window).toFixed(1)} % of ${number(window)}`;
}

function textOf({ kind, name, text = "" }: Part, print: Printer): string {
  return `${print.style("bold", `${kind}: ${firstLine(name, MAX_NAME_LENGTH)}`)}\n${indent(harmless(text))}`;
}

/** Wide enough for millions. */
const COLUMN_WIDTH = 9;

const numbers = new Intl.NumberFormat("en-US");

function number(value: number): string {
  return numbers.format(value);
}

function column(value: number): string {
  return number(value).padStart(COLUMN_WIDTH);
}

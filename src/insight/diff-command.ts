import type { TurnId } from "../model/ids.ts";
import { type Branch, compareTurns, type Comparison, transcriptOf } from "./compare-turns.ts";
import type { Invocation } from "../feature/command.ts";
import { coloredDiff, type Printer } from "../terminal/print.ts";
import { findTurn, limitOf, openLedger, turnMissing } from "../client/ledger.ts";
import type { Ledger } from "../store/store.ts";
import { sideBySide } from "../terminal/side-by-side.ts";
import { count, firstLine, harmless, table } from "../terminal/text.ts";

const MAX_QUERY_LENGTH = 60;
/** Used when the output is not a terminal. */
const DEFAULT_COLUMNS = 100;

/** Compares two threads after their last common turn. */
export async function diff(given: Invocation): Promise<void> {
  const { home, args, options, print } = given;
  const limit = limitOf(given);
  await using ledger = await openLedger(home);
  const [leftName = "", rightName = ""] = args;
  const [left, right] = [await need(leftName, ledger), await need(rightName, ledger)];
  const compared = await compareTurns([left, right], ledger, limit);
  print.data(compared, () => {
    const { diff } = compared;
    const columns = process.stdout.columns ?? DEFAULT_COLUMNS;
    if (options["side"] === true)
      return [describe(compared, print), ...inColumns(compared, columns)].join("\n");
    const same = left === right ? "Both are the same turn." : "Both branches have the same content.";
    return [describe(compared, print), diff === "" ? same : coloredDiff(diff, print)].join("\n\n");
  });
}

async function need(name: string, ledger: Ledger): Promise<TurnId> {
  const turn = await findTurn(name, ledger);
  if (turn === undefined) throw turnMissing(name);
  return turn;
}

function describe({ common, left, right }: Comparison, { style }: Printer): string {
  const parted =
    common === null
      ? "none"
      : `up to ${style("yellow", common.id)} ${firstLine(common.query.at(-1)?.content ?? "", MAX_QUERY_LENGTH)}`;
  return table([
    ["in common", parted.trimEnd()],
    [style("red", "-"), describeBranch(left, style)],
    [style("green", "+"), describeBranch(right, style)],
  ]);
}

function describeBranch({ head, turns, more }: Branch, style: Printer["style"]): string {
  const sessions = [...new Set(turns.map(({ session }) => session))].join(", ");
  const shown = more === 0 ? "" : `; the first ${turns.length} compared`;
  const where = sessions === "" ? "" : ` in ${sessions}`;
  return `${style("yellow", head)}, ${count(turns.length + more, "turn")} since the fork${where}${shown}`;
}

/** The branches in two columns, turn by turn. */
function inColumns({ left, right }: Comparison, columns: number): string[] {
  const length = Math.max(left.turns.length, right.turns.length);
  return Array.from({ length }, (_, at) => {
    const [here, there] = [linesOf(left.turns[at]), linesOf(right.turns[at])];
    return ["", ...sideBySide(here, there, columns)].join("\n");
  });
}

function linesOf(turn: Branch["turns"][number] | undefined): string[] {
  return turn === undefined ? [] : [turn.id, ...harmless(transcriptOf(turn)).trimEnd().split("\n")];
}

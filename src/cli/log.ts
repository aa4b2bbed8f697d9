import type { TurnId } from "../model/ids.ts";
import { MAIN_SESSION, type SessionKey } from "../model/session-key.ts";
import { type TurnView, turnView } from "../feature/views.ts";
import { collectTurns } from "./collect-turns.ts";
import type { Invocation } from "../feature/command.ts";
import { findTurn, limitOf, MAX_LIMIT, openLedger } from "../client/ledger.ts";
import { drawGraph } from "./graph.ts";
import type { Ledger } from "../store/store.ts";
import type { Printer } from "../terminal/print.ts";
import { firstLine, moment } from "../terminal/text.ts";

const MAX_QUERY_LENGTH = 40;
const MAX_ANSWER_LENGTH = 60;

/** Sessions by their head, most recently used first. */
type Labels = ReadonlyMap<TurnId, readonly SessionKey[]>;

export async function log(given: Invocation): Promise<void> {
  const { home, args, options, print } = given;
  const limit = limitOf(given);
  await using ledger = await openLedger(home);
  const labels = await readLabels(ledger);
  const name = args[0] ?? MAIN_SESSION;
  // Without an argument, a main session that does not exist yet is no error.
  const isNew = args[0] === undefined && (await ledger.sessions.get(MAIN_SESSION)) === undefined;
  const head = options["all"] === true || isNew ? undefined : await findTurn(name, ledger);
  const heads = options["all"] === true ? [...labels.keys()] : head === undefined ? [] : [head];
  const turns = await collectTurns(ledger, heads, limit);
  const read = await Promise.all(turns.map(async ({ id }) => ledger.turns.read(id)));
  const views = read.filter((turn) => turn !== undefined).map(turnView);
  print.data(views, () => {
    if (views.length === 0) return print.advice("No turns yet. Run `cortex chat` to start a conversation.");
    const nodes = views.map((view) => ({
      id: view.id,
      parent: view.parentId ?? undefined,
      label: describeTurn(view, { labels: labels.get(view.id) ?? [], name, print }),
    }));
    return drawGraph(nodes).join("\n");
  });
}

async function readLabels({ sessions }: Ledger): Promise<Labels> {
  const labels = new Map<TurnId, SessionKey[]>();
  for (const { head, key } of (await sessions.list({ limit: MAX_LIMIT })).items) {
    if (head !== undefined) labels.set(head, [...(labels.get(head) ?? []), key]);
  }
  return labels;
}

function describeTurn(
  view: TurnView,
  { labels, name, print }: { labels: readonly string[]; name: string; print: Printer },
): string {
  const heads = labels.map((label) => (label === name ? `HEAD -> ${label}` : label)).join(", ");
  const query = view.type === "compaction" ? "(compaction)" : (view.query.at(-1)?.content ?? "");
  const pruned = view.prunedAt === null ? [] : [print.style("dim", "(pruned)")];
  return [
    print.style("yellow", view.id),
    ...(heads === "" ? [] : [print.style("cyan", `(${heads})`)]),
    print.style("dim", `${moment(view.completedAt)} ${view.agent}`),
    ...(view.status === "completed" ? [] : [print.style("red", view.status)]),
    ...pruned,
    firstLine(query, MAX_QUERY_LENGTH),
    ...(view.text === "" ? [] : [`→ ${firstLine(view.text, MAX_ANSWER_LENGTH)}`]),
  ].join(" ");
}

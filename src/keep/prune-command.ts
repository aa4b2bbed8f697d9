import { CortexError } from "../model/errors.ts";
import { type OnPruned, type Pruned, pruneHome, countPrunable } from "./prune.ts";
import { ask } from "../client/ask.ts";
import type { Invocation } from "../feature/command.ts";
import { momentOf } from "../feature/moment.ts";
import { findServer } from "../client/server.ts";
import { moment, size, table } from "../terminal/text.ts";

/** Says what is old enough to be forgotten; with `--yes`, forgets it. */
export async function pruneOldContent(given: Invocation): Promise<void> {
  const { home, options, print } = given;
  const nowMs = Date.now();
  const beforeMs = momentOf(given, "before", nowMs);
  if (beforeMs === undefined) throw momentMissing();
  const before = new Date(beforeMs).toISOString();
  if (options["yes"] !== true) {
    const prunable = await countPrunable(home, { beforeMs, nowMs });
    print.data({ before, dryRun: true, ...prunable }, () => {
      const { bytes, ...counts } = prunable;
      const old = `older than ${moment(beforeMs)} and needed by nobody`;
      if (isNothing(counts)) return `There is nothing ${old}.`;
      return [
        `This is ${old}:`,
        describe(counts),
        `What was said in it, about ${size(bytes)}, would go. Ids, times, hashes, costs and the tree stay.`,
        print.advice(
          "Nothing was changed: `--yes` does it, and it cannot be undone. `cortex backup` keeps a copy.",
        ),
      ].join("\n");
    });
    return;
  }
  if (process.stderr.isTTY)
    print.note("Pruning. It can be cut off: the next one goes on where this one was…");
  const { pruned, isRewritten } = await pruneNow(home, { beforeMs, nowMs }, createProgress(print));
  print.data({ before, dryRun: false, ...pruned, isRewritten }, () => {
    const what = isNothing(pruned) ? ["There was nothing to prune."] : ["Pruned:", describe(pruned)];
    return [...what, isRewritten ? REWRITTEN : KEPT_SIZE].join("\n");
  });
}

const REWRITTEN = "The file of the database is written anew: nothing of it is left there.";
const KEPT_SIZE = `The file of the database keeps its size, and traces can stay where it is not used. The same again while
Cortex is stopped, with room for a copy of it, writes it anew.`;

/** By the server where there is one: only one process may write. */
async function pruneNow(
  home: string,
  when: { beforeMs: number; nowMs: number },
  onPruned: OnPruned,
): ReturnType<typeof pruneHome> {
  const server = await findServer(home);
  if (server === undefined) return pruneHome(home, when, onPruned);
  const before = new Date(when.beforeMs).toISOString();
  const { body } = await ask(server, { method: "POST", path: "/api/prune", body: { before } });
  const { before: _, ...pruned } = body as unknown as Pruned & { before: string };
  return { pruned, isRewritten: false };
}

/** Every so many of a kind, a word: for whoever looks on. */
const SAY_EVERY = 10_000;

function createProgress(print: Invocation["print"]): OnPruned {
  let saidAt = 0;
  return (kind, pruned) => {
    if (pruned < saidAt) saidAt = 0; // the next kind
    if (!process.stderr.isTTY || pruned < saidAt + SAY_EVERY) return;
    saidAt = pruned;
    print.note(`${pruned} ${kind} so far…`);
  };
}

function describe(counts: Pruned): string {
  return table(
    Object.entries(counts)
      .filter(([, number]) => number > 0)
      .map(([kind, number]) => [`  ${kind}`, String(number)]),
  );
}

function isNothing(counts: Pruned): boolean {
  return Object.values(counts).every((number) => number === 0);
}

function momentMissing(): CortexError {
  return new CortexError("usage", "It is not said how old what is pruned has to be", {
    hint: "For example: `cortex prune --before 90d`, which says what would go and changes nothing.",
  });
}

import { CortexError } from "../model/errors.ts";
import { type OnPruned, type Pruned, pruneHome, countPrunable } from "./prune.ts";
import { ask } from "../client/ask.ts";
import type { Invocation } from "../feature/command.ts";
import { momentOf } from "../feature/moment.ts";
import { findServer } from "../client/server.ts";
import { moment, size, table } from "../terminal/text.ts";

/** Reports prunable content; with `--yes`, deletes it. */
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
      const old = `older than ${moment(beforeMs)} and no longer needed`;
      if (isNothing(counts)) return `Nothing is ${old}.`;
      return [
        `Content ${old}:`,
        describe(counts),
        `Pruning would delete about ${size(bytes)} of content and keep ids, times, hashes, costs and the tree.`,
        print.advice(
          "Nothing was changed. Use `--yes` to prune; it cannot be undone, so run `cortex backup` first.",
        ),
      ].join("\n");
    });
    return;
  }
  if (process.stderr.isTTY) print.note("Pruning… You can interrupt it; the next run continues.");
  const { pruned, isRewritten } = await pruneNow(home, { beforeMs, nowMs }, createProgress(print));
  print.data({ before, dryRun: false, ...pruned, isRewritten }, () => {
    const what = isNothing(pruned) ? ["Nothing to prune."] : ["Pruned:", describe(pruned)];
    return [...what, isRewritten ? REWRITTEN : KEPT_SIZE].join("\n");
  });
}

const REWRITTEN = "The database file was rewritten: no traces are left in it.";
const KEPT_SIZE = `The database file keeps its size, and traces may remain in its unused pages. To rewrite it, stop Cortex and
prune again, with enough disk space for a copy.`;

/** Through the server if one is running: only one process may write. */
async function pruneNow(
  home: string,
  when: { beforeMs: number; nowMs: number },
  onPruned: OnPruned,
): ReturnType<typeof pruneHome> {
  const server = await findServer(home);
  if (server === undefined) return pruneHome(home, when, onPruned);
  const before = new Date(when.beforeMs).toISOString();
  type Answer = Pruned & { readonly before: string };
  const { body } = await ask<Answer>(server, { method: "POST", path: "/api/prune", body: { before } });
  const { before: _, ...pruned } = body;
  return { pruned, isRewritten: false };
}

/** Progress is reported at this interval. */
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
  return new CortexError("usage", "Missing `--before`", {
    hint: "For example: `cortex prune --before 90d`, which only reports what would be deleted.",
  });
}

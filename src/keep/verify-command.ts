import { CortexError } from "../model/errors.ts";
import { databasePath, refuseFile } from "../config/home.ts";
import { damagedPart, verifyDatabase } from "../store/sqlite/verify.ts";
import type { Verdict } from "../store/store.ts";
import type { Invocation } from "../feature/command.ts";
import { count } from "../terminal/text.ts";

export async function verify({ home, print }: Invocation): Promise<void | false> {
  if (process.stderr.isTTY) print.note("Verifying every turn and audit entry…");
  const verdict = verifyHome(home);
  if (verdict.ok || print.json) {
    print.data(verdict, () => (verdict.ok ? describeVerdict(verdict) : ""));
    return verdict.ok ? undefined : false;
  }
  const part = damagedPart(verdict);
  const what = part[0]!.toUpperCase() + part.slice(1);
  throw new CortexError("store_corrupt", `${what} was modified: ${verdict.problem}`, {
    hint: "The ledger was edited, or the disk is failing. Compare it with a backup.",
  });
}

/** Pruned turns only have their hash, on which the later hashes depend. */
export function describeVerdict({
  turns,
  pruned,
  audited,
}: {
  readonly turns: number;
  readonly pruned: number;
  readonly audited: number;
}): string {
  const intact = `${count(turns - pruned, "turn")} and ${audited} audit ${audited === 1 ? "entry" : "entries"} verified`;
  return pruned === 0 ? `${intact}.` : `${intact}, ${count(pruned, "turn")} pruned (hashes kept).`;
}

/** Verifies the ledger of a home read-only, also while a server is running. */
export function verifyHome(home: string): Verdict {
  refuseFile(home);
  return verifyDatabase(databasePath(home));
}

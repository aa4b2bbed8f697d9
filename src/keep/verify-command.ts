import { CortexError } from "../model/errors.ts";
import { databasePath, refuseFile } from "../config/home.ts";
import { verifyDatabase } from "../store/sqlite/verify.ts";
import type { Verdict } from "../store/store.ts";
import type { Invocation } from "../feature/command.ts";
import { count } from "../terminal/text.ts";

export async function verify({ home, print }: Invocation): Promise<void | false> {
  if (process.stderr.isTTY) print.note("Checking every turn…");
  const verdict = verifyHome(home);
  if (verdict.ok || print.json) {
    print.data(verdict, () => (verdict.ok ? describeVerdict(verdict) : ""));
    return verdict.ok ? undefined : false;
  }
  throw new CortexError(
    "store_corrupt",
    `Turn ${verdict.turn} is not as it was written: ${verdict.problem}`,
    {
      hint: "Somebody changed the ledger, or the disk did: compare it with a backup.",
    },
  );
}

/** Of what was pruned there is only the hash, on which those of the turns after it rest. */
export function describeVerdict({
  turns,
  pruned,
}: {
  readonly turns: number;
  readonly pruned: number;
}): string {
  if (pruned === 0 && turns === 1) return "The one turn is as it was written.";
  if (pruned === 0) return `All ${turns} turns are as they were written.`;
  const rest = turns - pruned;
  const are = rest === 1 ? "is as it was" : "are as they were";
  const kept = pruned === 1 ? "hash is" : "hashes are";
  return `${count(rest, "turn")} ${are} written; of ${count(pruned, "turn")}, pruned, the ${kept} kept.`;
}

/** Checks the ledger of a home without becoming its writer, so also beside a Cortex that runs. */
export function verifyHome(home: string): Verdict {
  refuseFile(home);
  return verifyDatabase(databasePath(home));
}

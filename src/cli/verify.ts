import { CortexError } from "../model/errors.ts";
import { verifyHome } from "../runtime/verify.ts";
import type { Invocation } from "./command.ts";

export async function verify({ home, print }: Invocation): Promise<void | false> {
  if (process.stderr.isTTY) print.note("Checking every turn…");
  const verdict = verifyHome(home);
  if (verdict.ok || print.json) {
    print.data(verdict, () => `All ${verdict.ok ? verdict.turns : 0} turns are as they were written.`);
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

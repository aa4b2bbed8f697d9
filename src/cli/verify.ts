import { findHome } from "../runtime/home.ts";
import { verifyHome } from "../runtime/verify.ts";

export async function run(): Promise<number> {
  const verdict = verifyHome(findHome(process.env));
  if (verdict.ok) {
    console.log(`All ${verdict.turns} turns are as they were written.`);
    return 0;
  }
  console.error(`Turn ${verdict.turn} is not as it was written: ${verdict.problem}.`);
  return 1;
}

import { openCortex } from "../runtime/cortex.ts";
import { findHome } from "../runtime/home.ts";

export async function run(): Promise<number> {
  await using cortex = await openCortex({ home: findHome(process.env) });
  const verdict = await cortex.store.verify();
  if (verdict.ok) {
    console.log(`All ${verdict.turns} turns are as they were written.`);
    return 0;
  }
  console.error(`Turn ${verdict.turn} is not as it was written: ${verdict.problem}.`);
  return 1;
}

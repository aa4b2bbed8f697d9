import { openCortex } from "../runtime/cortex.ts";
import { findHome } from "../runtime/home.ts";

/** Holds the home until it is told to stop. */
export async function run(): Promise<number> {
  await using cortex = await openCortex({ home: findHome(process.env) });
  const stopped = stopSignal();
  console.log(`Cortex is up on ${cortex.home}. Ctrl-C stops it.`);
  await stopped;
  console.log("Cortex is stopping.");
  return 0;
}

function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    const awake = setInterval(() => {}, 2 ** 30); // a process with nothing to wait for would end
    for (const signal of ["SIGINT", "SIGTERM"] as const) {
      process.once(signal, () => {
        clearInterval(awake);
        resolve();
      });
    }
  });
}

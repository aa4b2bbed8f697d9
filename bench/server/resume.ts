// How soon work goes on that a crash has interrupted.

import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "./client.ts";
import { sharedNowMs } from "./clock.ts";
import { startCortex, type StartOptions, useModel } from "./start-cortex.ts";
import { type Model, startModel } from "./start-model.ts";

const LOOK_EVERY_MS = 10;
const CAP_MS = 60_000;
const MARK = "mark-1";

/** From the start of the process after the crash until the model is asked again. */
export async function measureResume({ program, home }: StartOptions): Promise<number> {
  await using model = await startModel({ held: true });
  useModel(home, model.port);
  {
    await using cortex = await startCortex({ program, home });
    using client = new Client({ ...cortex, connections: 1 });
    await client.post("/api/messages", { content: MARK });
    await askedAt(model);
    process.kill(cortex.pid, "SIGKILL");
  }
  const startedMs = sharedNowMs();
  await using running = new AsyncDisposableStack();
  running.use(await startCortex({ program, home }));
  const askedMs = await askedAt(model);
  model.go(); // a server whose run is over stops at once
  return askedMs - startedMs;
}

async function askedAt(model: Model): Promise<number> {
  const startedMs = performance.now();
  while (performance.now() - startedMs < CAP_MS) {
    const atMs = (await model.take()).get(MARK);
    if (atMs !== undefined) return atMs;
    await sleep(LOOK_EVERY_MS);
  }
  throw new Error("The model was not asked");
}

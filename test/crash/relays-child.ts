/**
 * A Cortex with many relays under way, to be killed at any moment. Those that are not there yet it starts, each by its
 * own key. It prints a line when it is open, one for each change, and `done` when all relays have ended.
 */
import type { RelayId } from "../../src/model/ids.ts";
import { openCortex } from "../../src/runtime/cortex.ts";

const [home, count] = process.argv.slice(2);
const cortex = await openCortex({ home: home!, environment: { PATH: process.env["PATH"] } });
process.stdout.write("open\n");
cortex.store.onWake("changes", () => void process.stdout.write("change\n"));
const ids: RelayId[] = [];
for (let i = 0; i < Number(count); i++) {
  const { id } = await cortex.relays.run({ name: "ten", message: "a house", idempotencyKey: `relay-${i}` });
  ids.push(id);
}
for (const id of ids) await cortex.relays.ended(id, new AbortController().signal);
process.stdout.write("done\n");
await cortex.stop();

/** A Cortex that starts a relay and says its id, to be killed at any moment. */
import { openCortex } from "../../src/runtime/cortex.ts";

const [home, name] = process.argv.slice(2);
const cortex = await openCortex({ home: home!, environment: { PATH: process.env["PATH"] } });
const { id } = await cortex.relays.run({ name: name!, message: "a house" });
process.stdout.write(`${id}\n`);

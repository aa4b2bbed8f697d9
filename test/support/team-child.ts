/** A Cortex with a team at work, to be killed at any moment. */
import { openCortex } from "../../src/runtime/cortex.ts";

const [home] = process.argv.slice(2);
await openCortex({ home: home!, environment: { PATH: process.env["PATH"] } });

/** A Cortex with a team at work, to be killed at any moment. What it is told goes to the coordinator. */
import { normalizeSessionKey } from "../../src/model/session-key.ts";
import { openCortex } from "../../src/runtime/cortex.ts";

const [home, content] = process.argv.slice(2);
const cortex = await openCortex({ home: home!, environment: { PATH: process.env["PATH"] } });
const session = normalizeSessionKey("agent:chief-of-staff:main");
if (content !== undefined) await cortex.send({ content, session });

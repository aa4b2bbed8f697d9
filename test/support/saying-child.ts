/** A Cortex that is told something, each text after the answer to the one before, to be killed at any moment. */
import { MAIN_SESSION } from "../../src/model/session-key.ts";
import { openCortex } from "../../src/runtime/cortex.ts";
import { answerTo } from "./workers.ts";

const [home, ...texts] = process.argv.slice(2);
const cortex = await openCortex({ home: home!, environment: { PATH: process.env["PATH"] } });
for (const content of texts) {
  const said = await cortex.say({ content, session: MAIN_SESSION });
  if (said.kind === "message") await answerTo(cortex, said.sent.item);
}

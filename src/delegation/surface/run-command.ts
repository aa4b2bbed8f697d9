import { Console } from "node:console";

import { findHome } from "../../config/home.ts";
import { runSubAgent } from "../sub-agents/run-sub-agent.ts";

/** The child's side of the protocol. Ends with its input, for then there is nobody left to work for. */
export async function run(home: string = findHome(process.env)): Promise<never> {
  const { stdin: input, stdout: output, stderr } = process;
  // The protocol has the output for itself: what libraries print goes elsewhere.
  globalThis.console = new Console(stderr);
  output.on("error", () => process.exit()); // nobody reads it
  process.exit((await runSubAgent({ input, output, home, environment: process.env })) ? 0 : 1);
}

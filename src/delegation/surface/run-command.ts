import { Console } from "node:console";

import { findHome } from "../../config/home.ts";
import { runSubAgent } from "../sub-agents/run-sub-agent.ts";

/** The child's side of the protocol. Ends when its input ends: its parent is gone. */
export async function runAsSubAgent(home: string = findHome(process.env)): Promise<never> {
  const { stdin: input, stdout: output, stderr } = process;
  // Standard output belongs to the protocol, so what libraries print goes to standard error.
  globalThis.console = new Console(stderr);
  output.on("error", () => process.exit()); // the parent is gone
  process.exit((await runSubAgent({ input, output, home, environment: process.env })) ? 0 : 1);
}

/**
 * Runs commands one after the other in this process, which is much faster than one for each, and says how each ended:
 * on standard error, as a line of JSON after what it said there. The commands come as JSON on standard input.
 */
import { text } from "node:stream/consumers";

import { runCommandLine } from "../../src/cli/command-line.ts";
import { COMMANDS } from "../../src/cli/commands.ts";

for (const argv of JSON.parse(await text(process.stdin)) as string[][]) {
  const code = await runCommandLine(COMMANDS, { argv, environment: process.env });
  process.stderr.write(`${JSON.stringify({ argv, code })}\n`);
}

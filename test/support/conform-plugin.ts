/**
 * Runs the checks of a plugin in a process of its own, as its author does, and prints what came of each as a line of JSON:
 * `conform-plugin.ts <name> <use as JSON> [all]`: without `all`, the checks that take long are left out.
 */
import { conformance, type Json } from "../../src/conformance/channels.ts";
import { startBoard } from "./board-counterpart.ts";

const [name = "", use = "null", which] = process.argv.slice(2);
const kills = { messages: 40, places: 5, kills: 2 };
for (const check of await conformance({ name, use: JSON.parse(use) as Json }, startBoard, { kills })) {
  if (which !== "all" && /killed|silence/.test(check.name)) continue;
  const problem = await check.run().catch((error: unknown) => String(error));
  console.log(JSON.stringify({ name: check.name, problem: problem ?? null }));
}
process.exit();

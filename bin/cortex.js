#!/usr/bin/env node
// Runs src/ in a checkout and dist/ when installed. Plain JavaScript, because an old Node must be able
// to run it: in a checkout, it hands over to the Node that `npm ci` installed.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import module from "node:module";
import { fileURLToPath } from "node:url";

const NEEDED = 24;
const root = new URL("..", import.meta.url);
const source = new URL("src/cli/main.ts", root);
const program = existsSync(source) ? source : new URL("dist/cli/main.js", root);

// The compile cache, also for our threads and processes. Not in the temporary folder, where other users could write.
process.env.NODE_COMPILE_CACHE ??= fileURLToPath(new URL("node_modules/.cache/node", root));
module.enableCompileCache?.(process.env.NODE_COMPILE_CACHE);

if (Number(process.versions.node.split(".")[0]) >= NEEDED) {
  try {
    const { main } = await import(program.href);
    process.exitCode = await main(process.argv.slice(2));
  } catch (error) {
    if (error.code !== "ERR_MODULE_NOT_FOUND" || program !== source) throw error;
    console.error(
      `Incomplete installation in ${fileURLToPath(root)}: ${error.message.split(" imported from ")[0]}.`,
    );
    console.error("Run `npm ci` in that folder to install missing packages.");
    process.exitCode = 1;
  }
} else {
  const node = fileURLToPath(new URL("node_modules/node/bin/node", root));
  if (existsSync(node)) handOver(node);
  else {
    console.error(`Cortex needs Node ${NEEDED} or newer, and this is ${process.version}.`);
    console.error(
      existsSync(source) ? "Run `npm ci` to install it." : "Install a newer Node, then run this again.",
    );
    process.exitCode = 1;
  }
}

function handOver(node) {
  const child = spawn(node, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], { stdio: "inherit" });
  // A terminal sends these to both; a service manager only to this process.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
  child.on("exit", (code, signal) => (signal ? process.kill(process.pid, signal) : process.exit(code)));
}

/**
 * The entry point. `commands.ts` has the table of commands; `version` and `sub-agent run`, which programs call, do not
 * even load that.
 */
/** Returns the exit code. */
export async function main(argv: readonly string[]): Promise<number> {
  const [first = "", second] = argv;
  if (argv.length === 1 && ["version", "--version", "-V", "-v"].includes(first)) {
    (await import("./version.ts")).version(false);
    return 0;
  }
  if (argv.length === 2 && first === "sub-agent" && second === "run") {
    await (await import("../delegation/surface/run-command.ts")).runAsSubAgent();
  }
  const [{ COMMANDS }, { runCommandLine }] = await Promise.all([
    import("./commands.ts"),
    import("./command-line.ts"),
  ]);
  endQuietlyWithoutReader();
  return runCommandLine(COMMANDS, { argv, environment: process.env });
}

/** `cortex events | head` is done once head has exited. */
function endQuietlyWithoutReader(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code !== "EPIPE") throw error;
      process.exit();
    });
  }
}

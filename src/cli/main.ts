/**
 * Where the command line begins. `commands.ts` has the table of commands; `version` and `sub-agent run`, which
 * programs ask for, do not even load that.
 */
process.exitCode = await main(process.argv.slice(2));

async function main(argv: readonly string[]): Promise<number> {
  if (argv.length === 1 && ["version", "--version", "-V", "-v"].includes(argv[0]!)) {
    (await import("./version.ts")).version(false);
    return 0;
  }
  if (argv.length === 2 && argv[0] === "sub-agent" && argv[1] === "run") {
    await (await import("../delegation/surface/run-command.ts")).runAsSubAgent();
  }
  const [{ COMMANDS }, { runCommandLine }] = await Promise.all([
    import("./commands.ts"),
    import("./command-line.ts"),
  ]);
  endQuietlyWithoutReader();
  return runCommandLine(COMMANDS, { argv, environment: process.env });
}

/** `cortex events | head` has all that it wanted once head is gone. */
function endQuietlyWithoutReader(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code !== "EPIPE") throw error;
      process.exit();
    });
  }
}

/**
 * A tour of Cortex on a real server with a temporary home. However it ends, it leaves no process behind, and no file
 * without `--keep`.
 */
import { rmSync } from "node:fs";

import { CortexError } from "../model/errors.ts";
import type { Command, Invocation } from "../feature/command.ts";
import { demoEnvironment, makeDemoFolder } from "./demo-home.ts";
import { playDemo } from "./demo-play.ts";
import { DemoServer } from "./demo-server.ts";

const SIGNALS = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 } as const;
/** Shells report a signal as this plus its number. */
const ENDED_BY_SIGNAL = 128;

export async function demo(given: Invocation, commands: readonly Command[]): Promise<void> {
  const { options, print } = given;
  if (options["home"] !== undefined) throw homeNotAllowed();
  const isKept = options["keep"] === true;
  const home = makeDemoFolder();
  const environment = demoEnvironment(home, given.environment);
  const server = new DemoServer(home, environment);
  const remove = (): void => {
    if (!isKept) rmSync(home, { recursive: true, force: true, maxRetries: 5 });
  };
  const left = new AbortController();
  const signalled = Promise.withResolvers<number>();
  for (const [signal, number] of Object.entries(SIGNALS))
    process.on(signal, () => {
      signalled.resolve(number);
      if (left.signal.aborted) void server.kill(); // the second signal: stop waiting for it
    });
  // The reader has gone away, or a fatal error occurred: nothing can be awaited here.
  process.on("exit", () => {
    server.killNow();
    remove();
  });

  const playing = playDemo({ home, environment, server, given, commands, signal: left.signal });
  playing.catch(() => {}); // if interrupted, its outcome does not matter
  let signal: number | void;
  try {
    signal = await Promise.race([playing, signalled.promise]);
  } finally {
    left.abort();
    await server[Symbol.asyncDispose]();
    remove();
    if (isKept) print.data({ name: "kept", home }, () => `Home kept: ${home}`);
  }
  if (signal === undefined) return;
  const below = process.stderr.isTTY ? "\n" : ""; // below the ^C that the terminal echoed
  if (!isKept && !print.json) print.note(`${below}Demo stopped; its home was deleted.`);
  process.exit(ENDED_BY_SIGNAL + signal); // at once: the current step must not continue
}

function homeNotAllowed(): CortexError {
  return new CortexError("usage", "The demo always uses a temporary home", {
    hint: "Remove --home. To keep the demo home, use --keep.",
  });
}

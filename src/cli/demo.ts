/**
 * Shows what Cortex does, on a real server with a home of its own. However a demo ends, nothing of it stays: no
 * process, and no file unless that was asked for.
 */
import { rmSync } from "node:fs";

import { CortexError } from "../model/errors.ts";
import type { Command, Invocation } from "../feature/command.ts";
import { demoEnvironment, makeDemoFolder } from "./demo-home.ts";
import { playDemo } from "./demo-play.ts";
import { DemoServer } from "./demo-server.ts";

const SIGNALS = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 } as const;
/** What a shell adds to the number of the signal that has ended a program. */
const ENDED_BY_SIGNAL = 128;

export async function demo(given: Invocation, commands: readonly Command[]): Promise<void> {
  const { options, print } = given;
  if (options["home"] !== undefined) throw homeNamed();
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
      if (left.signal.aborted) void server.kill(); // it is waited for already: not any longer
    });
  // Whoever reads has gone away, or something went very wrong: there is no time to wait for anything.
  process.on("exit", () => {
    server.killNow();
    remove();
  });

  const playing = playDemo({ home, environment, server, given, commands, signal: left.signal });
  playing.catch(() => {}); // of one that is left in the middle, nobody asks how it ended
  let signal: number | void;
  try {
    signal = await Promise.race([playing, signalled.promise]);
  } finally {
    left.abort();
    await server[Symbol.asyncDispose]();
    remove();
    if (isKept) print.data({ name: "kept", home }, () => `The home is kept: ${home}`);
  }
  if (signal === undefined) return;
  const below = process.stderr.isTTY ? "\n" : ""; // of the ^C that the terminal has written
  if (!isKept && !print.json) print.note(`${below}The demo was left, and nothing of it stays.`);
  process.exit(ENDED_BY_SIGNAL + signal); // at once: what was being played must not go on
}

function homeNamed(): CortexError {
  return new CortexError("usage", "A demo has a home of its own, and takes no other", {
    hint: "Leave --home out; --keep keeps the home of the demo, and says where it is.",
  });
}

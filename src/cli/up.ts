import { existsSync } from "node:fs";

import { openCortex } from "../runtime/cortex.ts";
import { describeSandbox } from "../turns/sandbox.ts";
import { openPort, type OpenPort, serve } from "../server/serve.ts";
import { CortexError, type ErrorCode } from "../model/errors.ts";
import { requireOwnFile } from "../model/private-file.ts";
import type { Feature } from "../feature/feature.ts";
import { flagsOf, type Invocation, REFUSES_TO_START, text } from "../feature/command.ts";
import { logPath, openLog } from "../client/log-file.ts";
import { report } from "./report.ts";
import { count } from "../terminal/text.ts";
import { readVersion } from "../config/version.ts";

const ENDED_BY_INTERRUPT = 130;

/** What no second try changes. A port or a database that another process has may be free in a moment. */
const REFUSALS: ReadonlySet<ErrorCode> = new Set([
  "config_invalid",
  "file_unsafe",
  "home_unwritable",
  "store_corrupt",
  "store_foreign",
  "store_newer",
  "store_older",
  "store_unwritable",
  "token_unsafe",
]);

/** Serves a home until it is told to stop. */
export async function up(
  given: Invocation,
  features: readonly Feature[],
): Promise<void | typeof REFUSES_TO_START> {
  const toFile = openLog(logPath(given.home), { clock: Date.now });
  const log: Log = (line) => {
    given.print.note(line);
    toFile(line);
  };
  try {
    requireOwnFile(logPath(given.home)); // what it says would be lost
    await serveHome(given, features, { log, toFile });
  } catch (error) {
    if (!(error instanceof CortexError)) throw error;
    // A home that is not there yet is not made to say that it cannot be.
    if (existsSync(given.home)) toFile(`Cortex has ended: ${error.message}`);
    if (!REFUSALS.has(error.code)) throw error;
    report(error, { verbose: given.options["verbose"] === true, environment: given.environment });
    return REFUSES_TO_START;
  }
}

type Log = (line: string) => void;

/** What `log` is told is said aloud too. */
async function serveHome(
  given: Invocation,
  features: readonly Feature[],
  { log, toFile }: { log: Log; toFile: Log },
): Promise<void> {
  const { home, environment, options, print } = given;
  using signal = stopSignal({
    isTied: options["tied"] === true,
    onFirst: () => log("Cortex is stopping. A second signal ends it at once."),
  });
  const flags = {
    port: text(given, "port"),
    host: text(given, "host"),
    profile: text(given, "profile"),
    ...flagsOf(
      given,
      features.flatMap(({ upOptions = [] }) => upOptions),
    ),
  };

  let port: OpenPort | undefined;
  await using opened = new AsyncDisposableStack();
  const cortex = opened.use(
    await openCortex({
      home,
      environment,
      flags,
      features,
      log,
      // A server that is refused its port has sent nobody anything.
      beforeWork: async ({ server }) => void (port = opened.use(await openPort(home, { ...server, log }))),
    }),
  );
  await using server = await serve(cortex, { ...cortex.config().server, features, log, opened: port! });
  const { profile, why, keyMissing } = cortex.model();
  const { resumed } = cortex;
  const { url } = server;
  const loginLink = server.loginLink();
  const sandbox = cortex.sandbox();
  const model = { profile: profile.name, why };
  toFile(`Cortex ${readVersion()} is up at ${url}, process ${process.pid}, with ${describeModel(profile)}.`);
  print.data({ url, loginLink, home, pid: process.pid, model, sandbox, resumed }, () =>
    [
      `Cortex is up at ${print.style("bold", url)}, on ${home}.`,
      `Open it in a browser, once, with ${loginLink}`,
      `It answers with ${describeModel(profile)}, because ${why}.`,
      keyMissing === undefined
        ? `Another model: set ANTHROPIC_API_KEY, or "defaultProfile" in ${home}/config/profiles.json.`
        : `It has no key yet, and cannot answer: set ${keyMissing} in ${home}/config/.env.`,
      describeSandbox(sandbox),
      ...(resumed === 0 ? [] : [`It is back, and has resumed ${count(resumed, "turn")}.`]),
      "Ctrl-C stops it.",
    ].join("\n"),
  );
  await signal.stopped;
}

function describeModel({ name, model }: { readonly name: string; readonly model?: string }): string {
  return model === undefined ? `the profile "${name}"` : `${model} (the profile "${name}")`;
}

/** Is over with the first signal; the second ends the process. Where it is tied, the end of the input is a signal too. */
function stopSignal({
  isTied,
  onFirst,
}: {
  isTied: boolean;
  onFirst: () => void;
}): Disposable & { readonly stopped: Promise<void> } {
  const { promise, resolve } = Promise.withResolvers<void>();
  let isStopping = false;
  /** An input that is read keeps the process from ending. */
  const untie = (): void => void (isTied && process.stdin.pause());
  const onSignal = (): void => {
    if (isStopping) process.exit(ENDED_BY_INTERRUPT);
    isStopping = true;
    untie();
    onFirst();
    resolve();
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  if (isTied) process.stdin.on("end", onSignal).on("error", onSignal).resume();
  return {
    stopped: promise,
    [Symbol.dispose]: () => {
      for (const signal of SIGNALS) process.off(signal, onSignal);
      untie();
    },
  };
}

const SIGNALS = ["SIGINT", "SIGTERM"] as const;

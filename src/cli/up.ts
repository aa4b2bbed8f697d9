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

/** Errors that a retry cannot fix. A busy port or a locked database, in contrast, may become free. */
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

/** Serves a home until it is stopped. */
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
    requireOwnFile(logPath(given.home)); // otherwise its output would be lost
    await serveHome(given, features, { log, toFile });
  } catch (error) {
    if (!(error instanceof CortexError)) throw error;
    // Writing the log must not create a missing home.
    if (existsSync(given.home)) toFile(`Cortex exited: ${error.message}`);
    if (!REFUSALS.has(error.code)) throw error;
    report(error, { verbose: given.options["verbose"] === true, environment: given.environment });
    return REFUSES_TO_START;
  }
}

type Log = (line: string) => void;

/** `log` writes to the file and to standard error. */
async function serveHome(
  given: Invocation,
  features: readonly Feature[],
  { log, toFile }: { log: Log; toFile: Log },
): Promise<void> {
  const { home, environment, options, print } = given;
  using signal = stopSignal({
    isTied: options["tied"] === true,
    onFirst: () => log("Cortex is stopping. Send a second signal to quit immediately."),
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
      // Before any delivery: a server that cannot get its port must not send anything.
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
  toFile(`Cortex ${readVersion()} is up at ${url}, process ${process.pid}, model ${describeModel(profile)}.`);
  print.data({ url, loginLink, home, pid: process.pid, model, sandbox, resumed }, () =>
    [
      `Cortex is up at ${print.style("bold", url)}, home ${home}.`,
      `One-time login link: ${loginLink}`,
      `Model: ${describeModel(profile)}, because ${why}.`,
      keyMissing === undefined
        ? `To change it, set ANTHROPIC_API_KEY, or "defaultProfile" in ${home}/config/profiles.json.`
        : `Missing API key: set ${keyMissing} in ${home}/config/.env.`,
      describeSandbox(sandbox),
      ...(resumed === 0 ? [] : [`Resumed ${count(resumed, "turn")}.`]),
      "Ctrl-C stops it.",
    ].join("\n"),
  );
  await signal.stopped;
}

function describeModel({ name, model }: { readonly name: string; readonly model?: string }): string {
  return model === undefined ? `profile "${name}"` : `${model} (profile "${name}")`;
}

/** `stopped` resolves on the first signal; a second one exits. If tied, the end of standard input counts as a signal. */
function stopSignal({
  isTied,
  onFirst,
}: {
  isTied: boolean;
  onFirst: () => void;
}): Disposable & { readonly stopped: Promise<void> } {
  const { promise, resolve } = Promise.withResolvers<void>();
  let isStopping = false;
  /** A stream that is being read keeps the process alive. */
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

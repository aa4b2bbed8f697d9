import { openCortex } from "../runtime/cortex.ts";
import { describeSandbox } from "../runtime/sandbox.ts";
import { serve } from "../server/serve.ts";
import { type Invocation, text } from "./command.ts";
import { teamFlags } from "./team-flags.ts";
import { count } from "./text.ts";

const ENDED_BY_INTERRUPT = 130;

/** Serves a home until it is told to stop. */
export async function up(given: Invocation): Promise<void> {
  const { home, environment, print } = given;
  const stopped = stopSignal(() => print.note("Cortex is stopping. A second signal ends it at once."));
  const flags = {
    port: text(given, "port"),
    host: text(given, "host"),
    profile: text(given, "profile"),
    ...teamFlags(given),
  };
  const log = (line: string): void => print.note(line);

  await using cortex = await openCortex({ home, environment, flags, log });
  const { host, port } = cortex.config().server;
  await using server = await serve(cortex, { host, port, log });
  const { profile, why } = cortex.model();
  const { resumed } = cortex;
  const { url } = server;
  const loginLink = server.loginLink();
  const sandbox = cortex.sandbox();
  const model = { profile: profile.name, why };
  print.data({ url, loginLink, home, pid: process.pid, model, sandbox, resumed }, () =>
    [
      `Cortex is up at ${print.style("bold", url)}, on ${home}.`,
      `Open it in a browser, once, with ${loginLink}`,
      `It answers with ${describeModel(profile)}, because ${why}.`,
      `Another model: set ANTHROPIC_API_KEY, or "defaultProfile" in ${home}/config/profiles.json.`,
      describeSandbox(sandbox),
      ...(resumed === 0 ? [] : [`It is back, and has resumed ${count(resumed, "turn")}.`]),
      "Ctrl-C stops it.",
    ].join("\n"),
  );
  await stopped;
}

function describeModel({ name, model }: { readonly name: string; readonly model?: string }): string {
  return model === undefined ? `the profile "${name}"` : `${model} (the profile "${name}")`;
}

/** Resolves with the first signal; the second ends the process. */
function stopSignal(onFirst: () => void): Promise<void> {
  return new Promise((resolve) => {
    let isStopping = false;
    const onSignal = (): void => {
      if (isStopping) process.exit(ENDED_BY_INTERRUPT);
      isStopping = true;
      onFirst();
      resolve();
    };
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, onSignal);
  });
}

/** Plays the demo: the introduction, the steps, and what to try next. */
import { findBubblewrap } from "../turns/sandbox.ts";
import { calledAs } from "./as-called.ts";
import type { Command, Invocation } from "../feature/command.ts";
import { fillDemoHome } from "./demo-home.ts";
import { KILLED_CALL_DELAY_MS } from "./demo-script.ts";
import type { DemoServer } from "./demo-server.ts";
import { DemoStage, pause } from "./demo-stage.ts";
import { STEPS } from "./demo-steps.ts";
import { duration } from "../terminal/text.ts";

const NEXT = [
  ["init", "create your own home and choose a model"],
  ["chat --start", "talk to your agent"],
  ["help", "list all commands"],
] as const;

/** Pacing for a viewer: time to read a step, and simulated thinking time of the model. */
const READ_MS = 6_000;
const THINK_MS = 700;

interface DemoOptions {
  readonly home: string;
  readonly environment: Invocation["environment"];
  readonly server: DemoServer;
  readonly given: Invocation;
  readonly commands: readonly Command[];
  /** Silences the output. */
  readonly signal: AbortSignal;
}

export async function playDemo(parts: DemoOptions): Promise<void> {
  const { environment, server, commands, signal, given } = parts;
  const { options, print } = given;
  const { style } = print;
  const isQuiet = options["quiet"] === true;
  const isTerminal = process.stdin.isTTY && process.stdout.isTTY;
  const isPaced = isTerminal && options["fast"] !== true && !isQuiet && !print.json;
  const thinkMs = isPaced ? THINK_MS : 0;
  const beganMs = performance.now();

  const found = await findBubblewrap(environment);
  const home = fillDemoHome(parts.home, {
    environment,
    hasSandbox: "bubblewrap" in found,
    script: { thinkMs, receiptMs: KILLED_CALL_DELAY_MS },
  });
  const isSilent = isQuiet || print.json;
  const program = calledAs(given.environment);
  const stage = new DemoStage({ home: home.path, program, environment, commands, style, isSilent, signal });
  introduce(stage, found);
  stage.shell(`export CORTEX_HOME=${home.path}`);
  stage.takeCommands();
  const { pid, port } = await server.start();
  print.data(
    { step: 0, name: "start", home: home.path, pid, port, sandbox: "bubblewrap" in found },
    () => "",
  );

  for (const [at, step] of STEPS.entries()) {
    const startedMs = performance.now();
    const heading = `${at + 1}/${STEPS.length} ${step.title}`;
    stage.say(`\n${heading}`, ["bold", "underline"]);
    stage.say(step.about);
    const { shown, facts } = await step.play({ home, server, stage, thinkMs });
    const ms = Math.round(performance.now() - startedMs);
    const { name, title } = step;
    const told = { step: at + 1, name, title, shown, commands: stage.takeCommands(), ms, facts };
    print.data(told, () => `${isQuiet ? `${heading}: ` : "\n"}${style("green", "✓")} ${shown}`);
    if (isPaced && at < STEPS.length - 1) await pause(READ_MS, style);
  }
  stage.say(`\nFinished in ${duration(performance.now() - beganMs)}. Now try:`);
  stage.say(
    NEXT.map(([command, about]) => `  ${program} ${command.padEnd(12)}  ${about}`).join("\n"),
    "bold",
  );
}

function introduce(stage: DemoStage, found: Awaited<ReturnType<typeof findBubblewrap>>): void {
  stage.say("Cortex in eight steps.", "bold");
  stage.say("The server, tools and files are real. Only the model follows a script, so no key is needed.");
  if ("problem" in found)
    stage.say(
      `Its commands run without a sandbox, because ${found.problem}; in your own home, each would need your approval.`,
    );
  stage.say("It uses a temporary home. To type along in another terminal:");
}

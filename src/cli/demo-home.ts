/** The temporary home of the demo: everything in it is real except the model, which follows a script. */
import { randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

import { addShippedRelays } from "../relay/templates/shipped-files.ts";
import type { Invocation } from "../feature/command.ts";
import { demoScript, type ScriptOptions } from "./demo-script.ts";

export const HOOK = "orders";
export const WEBHOOK = "shop";
const SECRET_VARIABLE = "SHOP_SECRET";

export interface DemoHome {
  readonly path: string;
  /** The workspace of the agent `main`. */
  readonly workspace: string;
  readonly hookFile: string;
  readonly teamFolder: string;
  /** The project of the team's member. */
  readonly project: string;
  /** The secret of the webhook. */
  readonly secret: string;
  readonly environment: Invocation["environment"];
}

/** Creates an empty folder. */
export function makeDemoFolder(): string {
  return realpathSync(mkdtempSync(join(tmpdir(), "cortex-demo-")));
}

export function fillDemoHome(
  path: string,
  given: {
    readonly environment: Invocation["environment"];
    /** Without one, the sandbox is off: each command would need approval, and the demo knows its commands. */
    readonly hasSandbox: boolean;
    readonly script: ScriptOptions;
  },
): DemoHome {
  const workspace = join(path, "workspaces", "main");
  const home: DemoHome = {
    path,
    workspace,
    hookFile: join(path, "hooks", `${HOOK}.ts`),
    teamFolder: join(path, "team"),
    project: join(path, "workspaces", "shop"),
    secret: randomBytes(16).toString("hex"),
    environment: demoEnvironment(path, given.environment),
  };
  write(join(path, "config", "cortex.json"), json(settings(given.hasSandbox)));
  write(join(path, "config", "profiles.json"), json(profiles(path)));
  write(join(path, "config", ".env"), `${SECRET_VARIABLE}=${home.secret}\n`);
  writeDemoScript(path, given.script);
  write(home.hookFile, HOOK_SOURCE);
  write(join(workspace, "launch.md"), NOTES);
  write(join(workspace, "build.sh"), BUILD);
  write(join(home.project, "README.md"), "# The shop\n");
  addShippedRelays(path);
  return home;
}

/** Replaces the script of the model. */
export function writeDemoScript(path: string, options: ScriptOptions): void {
  write(scriptPath(path), demoScript(options));
}

/** The demo creates this file to let the build finish. */
export const BUILD_MAY_END = "may-end";

/**
 * The demo sees nothing of the user's: no keys, settings or homes. Only variables that programs need to run are kept.
 */
export function demoEnvironment(
  home: string,
  environment: Invocation["environment"],
): Invocation["environment"] {
  const kept = KEPT_VARIABLES.map((name) => [name, environment[name]] as const);
  return {
    ...Object.fromEntries(kept.filter(([, value]) => value !== undefined)),
    HOME: home,
    CORTEX_HOME: home,
  };
}

const KEPT_VARIABLES = ["PATH", "TMPDIR", "TZ", "LANG", "LC_ALL", "NODE_COMPILE_CACHE", "SYSTEMROOT"];

/** How long stopping the server waits for running turns. */
const SHUTDOWN_MS = 1_000;

function settings(hasSandbox: boolean): object {
  return {
    server: { port: 0 },
    broker: { shutdownMs: SHUTDOWN_MS },
    ...(hasSandbox ? {} : { sandbox: "off" }),
    channels: { webhooks: { [WEBHOOK]: { scheme: "generic", secretEnv: SECRET_VARIABLE } } },
  };
}

function profiles(home: string): object {
  return {
    defaultProfile: "demo",
    profiles: { demo: { backend: "offline", script: scriptPath(home) } },
  };
}

function scriptPath(home: string): string {
  return join(home, "config", "demo.yaml");
}

const NOTES = `# Launch

- [x] Find a name
- [ ] Build the site
- [ ] Say when we are open
- [ ] Tell the newspaper
`;

/** Runs until the demo has sent its message, at most half a minute. */
const BUILD = `rm -rf site && mkdir site
for page in home shop blog; do
  echo "<h1>$page</h1>" > site/$page.html
  echo "built site/$page.html"
done
tries=0
until [ -e ${BUILD_MAY_END} ] || [ $tries -ge 300 ]; do sleep 0.1; tries=$((tries + 1)); done
`;

const HOOK_SOURCE = `/**
 * @name Large orders
 * @description Has an agent look at orders of 100 € and more
 */
import type { Filter, HookContext, HookResult } from "cortexd/hooks";

export const filter: Filter = { channels: ["webhook"], senders: ["${WEBHOOK}"] };

export default async function ({ event }: HookContext): Promise<HookResult> {
  const { order, total } = event.payload as { order: number; total: number };
  if (total < 100) return { fire: false };
  return {
    fire: true,
    routing: { session: "orders" },
    context: { prompt: "A large order came in. Say what to do.", extracted: { order, total } },
  };
}
`;

function write(path: string, content: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content, { mode: 0o600 });
}

function json(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

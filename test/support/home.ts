/** A home in a temporary folder, with an offline model that plays a script. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import type { Tool } from "../../src/model/tool.ts";
import { type Cortex, type CortexOptions, openCortex } from "../../src/runtime/cortex.ts";
import { openWarmStore } from "./open-store.ts";
import { temporaryFolder } from "./temporary.ts";

export interface HomeFiles {
  readonly cortex?: unknown;
  readonly profiles?: unknown;
  /** YAML: what the offline model plays. */
  readonly script?: string;
  /** Sources by the name of their file. Those that come with Cortex are not there. */
  readonly hooks?: Readonly<Record<string, string>>;
  /** What `thread-templates.json` holds. */
  readonly relays?: unknown;
}

export function writeHome(
  home: string,
  { cortex = {}, profiles, script = "[]", hooks = {}, relays }: HomeFiles = {},
): void {
  mkdirSync(join(home, "hooks"), { recursive: true });
  for (const [name, source] of Object.entries(hooks)) writeFileSync(join(home, "hooks", name), source);
  const folder = join(home, "config");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "cortex.json"), JSON.stringify(cortex));
  writeFileSync(join(folder, "script.yaml"), script);
  if (relays !== undefined) writeFileSync(join(folder, "thread-templates.json"), JSON.stringify(relays));
  const scripted = {
    defaultProfile: "scripted",
    profiles: { scripted: { backend: "offline", script: "script.yaml" } },
  };
  writeFileSync(join(folder, "profiles.json"), JSON.stringify(profiles ?? scripted));
}

/** A Cortex on a new home, which goes with it. The environment is empty: nothing of this machine is found. */
export async function openTestCortex(
  files: HomeFiles = {},
  options: Partial<CortexOptions> = {},
): Promise<Cortex> {
  const environment = { PATH: process.env["PATH"] };
  if (options.home !== undefined)
    return openCortex({ environment, openStore: openWarmStore, ...options, home: options.home });
  const folder = temporaryFolder();
  writeHome(folder.path, files);
  const cortex = await openCortex({ environment, openStore: openWarmStore, ...options, home: folder.path });
  const dispose = async (): Promise<void> => {
    await cortex.stop();
    folder[Symbol.dispose]();
  };
  return { ...cortex, [Symbol.asyncDispose]: dispose };
}

/** A tool that does what the test says, and remembers its calls. */
export function testTool(
  name: string,
  run: Tool["run"],
  options: Partial<Pick<Tool, "repeatable" | "timeoutMs" | "trust" | "errorTrust">> = {},
): Tool & { readonly calls: unknown[] } {
  const calls: unknown[] = [];
  return {
    name,
    description: `The test's own tool ${name}.`,
    parameters: { type: "object" },
    writes: true,
    repeatable: false,
    trust: {},
    timeoutMs: 60_000,
    ...options,
    calls,
    run(params, context) {
      calls.push(params);
      return run(params, context);
    },
  };
}

export const DONE = { kind: "done", result: { text: "done" } } as const;

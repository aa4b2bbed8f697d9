/** Writes files of configuration with everything in them, commented: what is there is left alone. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { CortexError } from "../model/errors.ts";
import { addShippedHooks } from "../runtime/hook-files.ts";
import { addShippedRelays, writeRelaySchemas } from "../runtime/relay-files.ts";
import type { Invocation } from "./command.ts";

interface StarterFile {
  readonly name: string;
  readonly content: string;
  readonly mode: number;
}

export async function init({ home, print }: Invocation): Promise<void> {
  const folder = join(home, "config");
  makeFolder(folder);
  const files = [
    ...FILES.map((file) => ({ path: join(folder, file.name), written: writeNew(folder, file) })),
    ...addShippedHooks(home).map((path) => ({ path, written: true })),
  ];
  const relays = addShippedRelays(home);
  await writeRelaySchemas(home);
  const all = [...files, ...relays.map((path) => ({ path, written: true }))];
  print.data({ home, files: all }, () =>
    [
      ...files.map(({ path, written }) => `${written ? "Wrote" : "Kept"} ${path}`),
      ...(relays.length === 0
        ? []
        : [
            `Wrote templates of relays, ${relays.length} files in ${folder}/thread-templates and ${home}/prompts`,
          ]),
      "",
      "Now try:",
      "  cortex up        start the server; it prints a link to open in a browser",
      "  cortex chat      talk to your agent, in another terminal",
      "  cortex status    see what is going on",
      "  cortex relay     have several agents work on one thing; `cortex relay templates` lists how",
    ].join("\n"),
  );
}

const CORTEX_JSON = `// The settings of Cortex. Every key is optional: what is not here has its default, as shown.
// A flag comes before the environment (CORTEX_PORT), that before this file. \`cortex config\` says what is in effect.
{
  "$schema": "./cortex.schema.json",

  // Who there is to talk to. An agent has a persona, a role (manager or worker), and tools.
  // "agents": { "main": { "persona": "atlas", "profile": "__active__", "role": "manager", "tools": ["*"] } },

  // Who an agent is and what it may do. "ask" names the tools for which a person is asked first.
  // "personas": {
  //   "atlas": {
  //     "identity": { "name": "Atlas" },
  //     "permissions": { "tools": { "allow": ["*"], "deny": [] }, "ask": [], "roots": [], "hosts": ["*"] }
  //   }
  // },

  // How many turns run at once, how often a failed one is tried, and what a message does to a busy session.
  // "broker": { "maxConcurrentRuns": 8, "maxAttempts": 3, "queue": { "mode": "steer-backlog" } },

  // What becomes of a relay that runs when the server is killed, fail or resume, and what all of them may spend in a day.
  // "relay": { "onRestart": "fail", "usdPerDay": 20 },

  // What hooks may ask models for: the profile that they ask, and what they may spend in a day.
  // "hooks": { "profile": "__active__", "llmUsdPerDay": 1 },

  // Where the server listens. Only this machine can reach it unless you change the host.
  // "server": { "host": "127.0.0.1", "port": 4747 }
}
`;

const PROFILES_JSON = `// The models. A profile names a backend, a model, and the variable that holds its key, never the key itself.
{
  "$schema": "./profiles.schema.json",

  // The profile that answers where nothing else is said. Without it, Cortex takes what it finds: an API key
  // in the environment, else a model server on this machine, else the built-in offline model.
  // "defaultProfile": "claude",

  "profiles": {
    // "claude": { "backend": "pi", "provider": "anthropic", "model": "claude-sonnet-4-5", "apiKeyEnv": "ANTHROPIC_API_KEY" },
    // "local": { "backend": "pi", "provider": "openai-compatible", "model": "qwen3", "baseUrl": "http://127.0.0.1:11434/v1" }
  }
}
`;

const ENV = `# Keys and other secrets, read by Cortex and by nobody else. The environment comes before this file.
# ANTHROPIC_API_KEY=
# OPENAI_API_KEY=
# GEMINI_API_KEY=
`;

const FILES: readonly StarterFile[] = [
  { name: "cortex.json", content: CORTEX_JSON, mode: 0o644 },
  { name: "profiles.json", content: PROFILES_JSON, mode: 0o644 },
  { name: ".env", content: ENV, mode: 0o600 },
];

/** False: it was there already. */
function writeNew(folder: string, { name, content, mode }: StarterFile): boolean {
  const path = join(folder, name);
  try {
    writeFileSync(path, content, { flag: "wx", mode });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw unwritable(path, error);
  }
}

function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true });
  } catch (error) {
    throw unwritable(folder, error);
  }
}

function unwritable(path: string, cause: unknown): CortexError {
  return new CortexError("home_unwritable", `${path} cannot be written`, {
    hint: "Check its permissions, or name another home with --home or CORTEX_HOME.",
    cause,
  });
}

/** Files of configuration to begin with: all that can be set, as comments, and what was asked for. */
import type { StarterProfile } from "../runtime/starter-profile.ts";

export const SANDBOXES = ["auto", "require", "off"] as const;

/** What is not wished for has its default, and stays a comment. */
export interface Wishes {
  readonly starter: StarterProfile | undefined;
  readonly sandbox: (typeof SANDBOXES)[number] | undefined;
}

export interface StarterFile {
  readonly name: string;
  /** Whether something that was wished for is in it. */
  readonly wished: boolean;
  readonly content: string;
  readonly mode: number;
}

export function starterFiles(wishes: Wishes): StarterFile[] {
  return [
    {
      name: "cortex.json",
      wished: wishes.sandbox !== undefined,
      content: cortexJson(wishes),
      mode: 0o644,
    },
    {
      name: "profiles.json",
      wished: wishes.starter !== undefined,
      content: profilesJson(wishes),
      mode: 0o644,
    },
    { name: ".env", wished: false, content: ENV, mode: 0o600 },
  ];
}

export function isSandbox(word: string): word is (typeof SANDBOXES)[number] {
  return SANDBOXES.some((each) => each === word);
}

function cortexJson({ sandbox }: Wishes): string {
  return `// The settings of Cortex. Every key is optional: what is not here has its default, as shown.
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

  // Commands of agents run in a sandbox where there is one and else ask you (auto), only in one (require), or as they are (off).
  ${sandbox === undefined ? '// "sandbox": "auto"' : `"sandbox": ${JSON.stringify(sandbox)}`},

  // Where the server listens. Only this machine can reach it unless you change the host.
  // "server": { "host": "127.0.0.1", "port": 4747 }
}
`;
}

function profilesJson({ starter }: Wishes): string {
  return `// The models. A profile names a backend, a model, and the variable that holds its key, never the key itself.
{
  "$schema": "./profiles.schema.json",

  // The profile that answers where nothing else is said. Without it, Cortex takes what it finds: an API key
  // in the environment, else a model server on this machine, else the built-in offline model.
  ${starter === undefined ? '// "defaultProfile": "claude"' : `"defaultProfile": ${JSON.stringify(starter.name)}`},

  "profiles": {
${starter?.profile === undefined ? "" : `    ${JSON.stringify(starter.name)}: ${JSON.stringify(starter.profile)}\n`}    // "claude": { "backend": "pi", "provider": "anthropic", "model": "claude-sonnet-4-5", "apiKeyEnv": "ANTHROPIC_API_KEY" },
    // "local": { "backend": "pi", "provider": "openai-compatible", "model": "qwen3", "baseUrl": "http://127.0.0.1:11434/v1" }
  }
}
`;
}

const ENV = `# Keys and other secrets, read by Cortex and by nobody else. The environment comes before this file.
# ANTHROPIC_API_KEY=
# OPENAI_API_KEY=
# GEMINI_API_KEY=
`;

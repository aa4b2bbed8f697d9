/** The starter configuration: every section as a comment, and the chosen values. */
import type { StarterProfile } from "../runtime/starter-profile.ts";

export const SANDBOXES = ["auto", "require", "off"] as const;

/** An undefined choice keeps its default and stays a comment. */
export interface InitChoices {
  readonly starter: StarterProfile | undefined;
  readonly sandbox: (typeof SANDBOXES)[number] | undefined;
}

export interface StarterFile {
  readonly name: string;
  /** Whether it contains a choice of the user. */
  readonly hasChoice: boolean;
  readonly content: string;
  readonly mode: number;
}

export function starterFiles(choices: InitChoices): StarterFile[] {
  return [
    {
      name: "cortex.json",
      hasChoice: choices.sandbox !== undefined,
      content: cortexJson(choices),
      mode: 0o644,
    },
    {
      name: "profiles.json",
      hasChoice: choices.starter !== undefined,
      content: profilesJson(choices),
      mode: 0o644,
    },
    { name: ".env", hasChoice: false, content: ENV, mode: 0o600 },
  ];
}

export function isSandbox(word: string): word is (typeof SANDBOXES)[number] {
  return SANDBOXES.some((each) => each === word);
}

function cortexJson({ sandbox }: InitChoices): string {
  return `// The settings of Cortex. Every key is optional; the comments show the defaults.
// Flags override environment variables (CORTEX_PORT), which override this file. \`cortex config\` shows the effective settings.
{
  "$schema": "./cortex.schema.json",

  // The agents you can talk to. Each has a persona, a role (manager or worker) and tools.
  // "agents": { "main": { "persona": "atlas", "profile": "__active__", "role": "manager", "tools": ["*"] } },

  // Identity and permissions of agents. "ask" lists tools that need your approval for each call.
  // "personas": {
  //   "atlas": {
  //     "identity": { "name": "Atlas" },
  //     "permissions": { "tools": { "allow": ["*"], "deny": [] }, "ask": [], "roots": [], "hosts": ["*"] }
  //   }
  // },

  // Concurrent turns, attempts per turn, and the queue mode: what a message to a busy session does.
  // "broker": { "maxConcurrentRuns": 8, "maxAttempts": 3, "queue": { "mode": "steer-backlog" } },

  // Whether a relay fails or resumes after the server was killed, and the daily budget of all relays.
  // "relay": { "onRestart": "fail", "usdPerDay": 20 },

  // The model profile that hooks use, and their daily budget.
  // "hooks": { "profile": "__active__", "llmUsdPerDay": 1 },

  // How agents run commands: sandboxed if possible, else with your approval (auto); only sandboxed (require); unsandboxed (off).
  ${sandbox === undefined ? '// "sandbox": "auto"' : `"sandbox": ${JSON.stringify(sandbox)}`},

  // The address of the server. By default, only this machine can reach it.
  // "server": { "host": "127.0.0.1", "port": 4747 }
}
`;
}

function profilesJson({ starter }: InitChoices): string {
  return `// The models. A profile names a backend, a model and the variable with the API key, never the key itself.
{
  "$schema": "./profiles.schema.json",

  // The default profile. If unset, Cortex uses what it finds: an API key in the environment, else a model server
  // on this machine, else the built-in offline model.
  ${starter === undefined ? '// "defaultProfile": "claude"' : `"defaultProfile": ${JSON.stringify(starter.name)}`},

  "profiles": {
${starter?.profile === undefined ? "" : `    ${JSON.stringify(starter.name)}: ${JSON.stringify(starter.profile)}\n`}    // "claude": { "backend": "pi", "provider": "anthropic", "model": "claude-sonnet-4-5", "apiKeyEnv": "ANTHROPIC_API_KEY" },
    // "local": { "backend": "pi", "provider": "openai-compatible", "model": "qwen3", "baseUrl": "http://127.0.0.1:11434/v1" }
  }
}
`;
}

const ENV = `# API keys and other secrets, readable only by you. Environment variables override this file.
# ANTHROPIC_API_KEY=
# OPENAI_API_KEY=
# GEMINI_API_KEY=
`;

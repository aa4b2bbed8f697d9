/** The table of commands. Each is imported on use, so that `--help` loads only this table. */
import { type Command, LIMIT } from "../feature/command.ts";
import type { Feature } from "../feature/feature.ts";
import { FEATURES } from "../runtime/features.ts";

/** The core commands and those of these features. */
export function commandsWith(features: readonly Feature[]): readonly Command[] {
  return [
    ...features.flatMap(({ commands = [] }) => commands),
    ...CORE_COMMANDS.map((command) => (typeof command === "function" ? command(features) : command)),
  ];
}

const SEEN_DIGEST = ["--digest <hash>", "Decide only if the request has this digest"] as const;

const CORE_COMMANDS: readonly (Command | ((features: readonly Feature[]) => Command))[] = [
  (features) => ({
    usage: "up",
    about: "Start the server",
    group: "Start",
    examples: ["cortex up", "cortex up --port 8080 --profile local"],
    options: [
      ["--port <number>", "Port to listen on (env CORTEX_PORT, default 4747)"],
      ["--host <address>", "Address to listen on (env CORTEX_HOST, default 127.0.0.1)"],
      ["--profile <name>", "Default model profile (env CORTEX_PROFILE)"],
      ["--tied", "Stop when standard input closes"],
      ...features.flatMap(({ upOptions = [] }) => upOptions),
    ],
    async run(given) {
      (await import("./bound-memory.ts")).boundMemory();
      return (await import("./up.ts")).up(given, features);
    },
  }),
  {
    usage: "demo",
    about: "Tour Cortex offline in a temporary home",
    details: "No API key is needed, and the demo home is deleted afterwards.",
    group: "Start",
    examples: ["cortex demo", "cortex demo --fast --keep"],
    options: [
      ["--fast", "Run without pauses"],
      ["--keep", "Keep the demo home and print its path"],
    ],
    run: async (given) => (await import("./demo.ts")).demo(given, COMMANDS),
  },
  {
    usage: "chat",
    about: "Chat with an agent and steer it",
    group: "Talk",
    examples: ["cortex chat --start", "cortex chat --session agent:main:ideas"],
    options: [
      ["--session <key>", "Session to chat in (default agent:main:main)"],
      ["--profile <name>", "Model profile for the answer"],
      ["--start", "Start a background server if none is running"],
    ],
    run: async (given) => (await import("./chat.ts")).chat(given),
  },
  {
    usage: "send <text...>",
    about: "Send a message; - reads standard input",
    group: "Talk",
    examples: [
      'cortex send "What is on my list?" --wait',
      "git diff | cortex send - --session agent:main:review --wait",
      'cortex send "And in French?" --thread 01K5G7T9M3V8W2XQ4R6Z0B1C2D',
    ],
    options: [
      ["--session <key>", "Target session"],
      ["--thread <turn>", "Continue the thread that ends with this turn"],
      ["--persona <name>", "Target the persona's main session"],
      ["--mode <mode>", "Queue mode if the session is busy: steer, followup, interrupt, …"],
      ["--profile <name>", "Model profile for the answer"],
      ["--wait", "Wait for the answer and print it"],
      ["--key <key>", "Idempotency key: resending with the same key has no effect"],
      ["--start", "Start a background server if none is running"],
    ],
    run: async (given) => (await import("./send.ts")).send(given),
  },
  (features) => ({
    usage: "init",
    about: "Create a home with commented starter files",
    details: "Existing files are never overwritten.",
    group: "Set up",
    examples: ["cortex init", "cortex init --yes --model anthropic/claude-sonnet-4-5"],
    options: [
      ["--model <model>", "Model to use, such as anthropic/claude-sonnet-4-5 or offline"],
      ["--base-url <address>", "Base URL of your own model server, such as http://127.0.0.1:11434/v1"],
      ["--key-env <name>", "Environment variable with the API key (default: the provider's)"],
      ["--sandbox <mode>", "Sandbox for agent commands: auto, require or off (default auto)"],
      ["--yes", "Do not prompt"],
    ],
    run: async (given) => (await import("./init.ts")).initHome(given, features),
  }),
  {
    usage: "logs",
    about: "Print the server log, oldest first",
    group: "Look",
    examples: ["cortex logs", "cortex logs --follow"],
    options: [["--follow", "Keep printing new lines"], LIMIT],
    run: async (given) => (await import("./logs.ts")).logs(given),
  },
  (features) => ({
    usage: "doctor",
    about: "Diagnose the installation and configuration",
    group: "Set up",
    examples: ["cortex doctor", "cortex doctor --fix", "cortex doctor --dependencies"],
    options: [
      ["--fix", "Apply the suggested fixes and check again"],
      ["--offline", "Skip checks that contact model servers"],
      ["--dependencies", "Ask npm for known vulnerabilities of dependencies"],
    ],
    run: async (given) => (await import("../doctor/command.ts")).doctor(given, features),
  }),
  {
    usage: "config",
    about: "Print effective settings and their origins",
    group: "Set up",
    examples: ["cortex config", "cortex config --json"],
    run: async (given) => (await import("./config.ts")).config(given),
  },
  {
    usage: "sessions",
    about: "List sessions, most recently used first",
    group: "Look",
    examples: ["cortex sessions", "cortex sessions --tree --limit 50"],
    options: [
      ["--tree", "Nest workers below their parent session"],
      ["--all", "Include closed sessions of finished relays"],
      LIMIT,
    ],
    run: async (given) => (await import("./sessions.ts")).listSessions(given),
  },
  {
    usage: "log [session|turn]",
    about: "Draw a thread with its branches",
    group: "Look",
    examples: ["cortex log", "cortex log agent:main:main --limit 5", "cortex log --all"],
    options: [["--all", "Threads of all sessions"], LIMIT],
    run: async (given) => (await import("./log.ts")).log(given),
  },
  {
    usage: "show <turn>",
    about: "Show a turn in full",
    group: "Look",
    examples: ["cortex show 01K5G7T9M3V8W2XQ4R6Z0B1C2D"],
    run: async (given) => (await import("./show.ts")).showTurn(given),
  },
  {
    usage: "context [session]",
    about: "Show a session's model context and token counts",
    group: "Look",
    examples: ["cortex context", "cortex context agent:main:main --full"],
    options: [["--full", "Include the full text of each part"]],
    run: async (given) => (await import("./context.ts")).context(given),
  },
  {
    usage: "fork <turn> [message...]",
    about: "Start a new session from a turn",
    details: "The original thread does not change.",
    group: "Talk",
    examples: [
      'cortex fork 01K5G7T9M3V8W2XQ4R6Z0B1C2D "What if it were blue?" --wait',
      "cortex fork 01K5G7T9M3V8W2XQ4R6Z0B1C2D --session agent:main:blue",
    ],
    options: [
      ["--session <label>", "Label of the new session"],
      ["--wait", "Wait for the answer and print it"],
    ],
    run: async (given) => (await import("./send.ts")).forkTurn(given),
  },
  {
    usage: "events",
    about: "List inbound and outbound events, newest first",
    group: "Look",
    examples: ["cortex events --why", "cortex events --follow --channel webhook"],
    options: [
      ["--follow", "Keep printing new events"],
      ["--why", "Show which hooks fired and where each event went"],
      ["--channel <name>", "Only events of this channel"],
      LIMIT,
    ],
    run: async (given) => (await import("./events.ts")).listEvents(given),
  },
  {
    usage: "queue [session]",
    about: "List queued messages",
    group: "Work",
    examples: ["cortex queue", "cortex queue agent:main:main"],
    options: [LIMIT],
    run: async (given) => (await import("./queue.ts")).listQueue(given),
  },
  {
    usage: "runs",
    about: "List agent runs, newest first",
    group: "Look",
    examples: ["cortex runs", "cortex runs --state failed"],
    options: [["--state <state>", "Only runs in this state"], LIMIT],
    run: async (given) => (await import("./runs.ts")).listRuns(given),
  },
  {
    usage: "approvals",
    about: "Answer agents' approval requests and questions",
    group: "Work",
    examples: ["cortex approvals"],
    options: [["--all", "Include decided requests"], LIMIT],
    run: async (given) => (await import("./approvals.ts")).listApprovals(given),
    commands: [
      {
        usage: "list",
        about: "List pending requests",
        examples: ["cortex approvals list --all"],
        options: [["--all", "Include decided requests"], LIMIT],
        run: async (given) => (await import("./approvals.ts")).listApprovals(given),
      },
      {
        usage: "show <id>",
        about: "Show a request in full",
        examples: ["cortex approvals show 01K5G7T9M3V8W2XQ4R6Z0B1C2D"],
        run: async (given) => (await import("./approvals.ts")).showApproval(given),
      },
      {
        usage: "approve <id>",
        about: "Approve a tool call once",
        examples: ["cortex approvals approve 01K5G7T9M3V8W2XQ4R6Z0B1C2D"],
        options: [SEEN_DIGEST],
        run: async (given) => (await import("./approvals.ts")).approve(given),
      },
      {
        usage: "deny <id> [reason...]",
        about: "Deny a tool call; the agent sees why",
        examples: ['cortex approvals deny 01K5G7T9M3V8W2XQ4R6Z0B1C2D "Not on a Friday."'],
        options: [SEEN_DIGEST],
        run: async (given) => (await import("./approvals.ts")).deny(given),
      },
      {
        usage: "answer <id> <text...>",
        about: "Answer an agent's question",
        examples: ['cortex approvals answer 01K5G7T9M3V8W2XQ4R6Z0B1C2D "The second one."'],
        run: async (given) => (await import("./approvals.ts")).sendAnswer(given),
      },
    ],
  },
  {
    usage: "dead",
    about: "Inspect and retry dead letters",
    group: "Work",
    examples: ["cortex dead"],
    options: [LIMIT],
    run: async (given) => (await import("./dead.ts")).listDead(given),
    commands: [
      {
        usage: "list",
        about: "List dead letters, newest first",
        examples: ["cortex dead list"],
        options: [LIMIT],
        run: async (given) => (await import("./dead.ts")).listDead(given),
      },
      {
        usage: "show <id>",
        about: "Show a dead letter and its history",
        examples: ["cortex dead show 01K5G7T9M3V8W2XQ4R6Z0B1C2D"],
        run: async (given) => (await import("./dead.ts")).showDead(given),
      },
      {
        usage: "retry <id>",
        about: "Retry a dead letter",
        examples: ["cortex dead retry 01K5G7T9M3V8W2XQ4R6Z0B1C2D"],
        run: async (given) => (await import("./dead.ts")).requestRetry(given),
      },
      {
        usage: "drop <id>",
        about: "Discard a dead letter",
        examples: ["cortex dead drop 01K5G7T9M3V8W2XQ4R6Z0B1C2D"],
        run: async (given) => (await import("./dead.ts")).requestDrop(given),
      },
    ],
  },
  {
    usage: "agents",
    about: "List, inspect and create agents",
    group: "Set up",
    examples: ["cortex agents"],
    run: async (given) => (await import("./agents.ts")).listAgents(given),
    commands: [
      {
        usage: "list",
        about: "List agents",
        examples: ["cortex agents list --json"],
        run: async (given) => (await import("./agents.ts")).listAgents(given),
      },
      {
        usage: "show <id>",
        about: "Show an agent's model, files and permissions",
        examples: ["cortex agents show main"],
        run: async (given) => (await import("./agents.ts")).showAgent(given),
      },
      {
        usage: "check",
        about: "Check agents and personas for problems",
        examples: ["cortex agents check"],
        run: async (given) => (await import("./agents.ts")).checkAgentsAndPersonas(given),
      },
      {
        usage: "create <id>",
        about: "Add an agent to cortex.json",
        examples: ["cortex agents create scribe --role worker --tools Read,Grep"],
        options: [
          ["--persona <id>", "Its persona (default atlas)"],
          ["--profile <name>", "Its model profile (default: the active one)"],
          ["--role <role>", "Role: manager or worker (default worker)"],
          ["--tools <tools>", "Comma-separated tools (default *)"],
          ["--workspace <folder>", "Its workspace folder (default workspaces/<id> in the home)"],
        ],
        run: async (given) => (await import("./agents.ts")).createAgent(given),
      },
    ],
  },
  {
    usage: "personas",
    about: "List, inspect and create personas",
    group: "Set up",
    examples: ["cortex personas"],
    run: async (given) => (await import("./personas.ts")).listPersonas(given),
    commands: [
      {
        usage: "list",
        about: "List personas and their permissions",
        examples: ["cortex personas list --json"],
        run: async (given) => (await import("./personas.ts")).listPersonas(given),
      },
      {
        usage: "show <id>",
        about: "Show a persona's identity, permissions and agents",
        examples: ["cortex personas show atlas"],
        run: async (given) => (await import("./personas.ts")).showPersona(given),
      },
      {
        usage: "check",
        about: "Check agents and personas for problems",
        examples: ["cortex personas check"],
        run: async (given) => (await import("./agents.ts")).checkAgentsAndPersonas(given),
      },
      {
        usage: "create <id>",
        about: "Add a persona to cortex.json",
        examples: ['cortex personas create vera --soul "You check facts." --deny Bash'],
        options: [
          ["--name <name>", "Display name (default: its capitalized id)"],
          ["--soul <text>", "Identity, as instructions to the model"],
          ["--emoji <emoji>", "Emoji shown beside its name"],
          ["--deny <tools>", "Comma-separated tools to deny"],
          ["--ask <tools>", "Comma-separated tools that need approval for each call"],
        ],
        run: async (given) => (await import("./personas.ts")).createPersona(given),
      },
    ],
  },
  {
    usage: "service",
    about: "Run Cortex as a systemd or launchd service",
    group: "Set up",
    examples: ["cortex service"],
    run: async (given) => (await import("./service.ts")).showServiceStatus(given),
    commands: [
      {
        usage: "install",
        about: "Install and start the service",
        details: "Running it again changes nothing.",
        examples: ["cortex service install --dry-run", "cortex service install"],
        options: [["--dry-run", "Only print the service file and commands"]],
        run: async (given) => (await import("./service.ts")).installService(given),
      },
      {
        usage: "uninstall",
        about: "Stop and remove the service, keeping the home",
        examples: ["cortex service uninstall"],
        options: [["--dry-run", "Only print the service file and commands"]],
        run: async (given) => (await import("./service.ts")).uninstallService(given),
      },
      {
        usage: "status",
        about: "Show whether the service is installed and running",
        examples: ["cortex service status"],
        run: async (given) => (await import("./service.ts")).showServiceStatus(given),
      },
    ],
  },
  {
    usage: "completion <shell>",
    about: "Print a completion script: bash, zsh or fish",
    group: "Set up",
    examples: [
      "source <(cortex completion bash)",
      "source <(cortex completion zsh)",
      "cortex completion fish > ~/.config/fish/completions/cortex.fish",
    ],
    run: async (given) => (await import("./completion.ts")).completion(given, COMMANDS),
  },
  {
    usage: "version",
    about: "Print the Cortex and Node versions",
    group: "Set up",
    examples: ["cortex version", "cortex version --json"],
    run: async (given) => (await import("./version.ts")).version(given.print.json),
  },
];

export const COMMANDS = commandsWith(FEATURES);

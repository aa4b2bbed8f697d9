import type { Command } from "../../feature/command.ts";

export const SUB_AGENT: Command = {
  usage: "sub-agent",
  about: "Run or check a sub-agent program",
  group: "Team & relay",
  commands: [
    {
      usage: "run",
      about: "Run as a sub-agent over standard input/output",
      examples: [
        `{ echo '{"type":"init","config":{"id":"1","instruction":"Say hello."},"agentConfig":{"profile":"offline"}}'; sleep 2; } | cortex sub-agent run`,
      ],
      run: async ({ home }) => (await import("./run-command.ts")).runAsSubAgent(home),
    },
    {
      usage: "check <command...>",
      about: "Check a program against the sub-agent protocol",
      details: "Write -- before the command.",
      examples: ["cortex sub-agent check -- python3 my-agent.py"],
      options: [["--seconds <number>", "Timeout for an answer in seconds (default 60)"]],
      run: async (given) => (await import("./check-command.ts")).checkProgram(given),
    },
  ],
};

/** The commands of `cortex team …`. */
import type { Command } from "../../feature/command.ts";
import { TEAM_OPTIONS, WHERE } from "./options.ts";

export const TEAM_COMMAND: Command = {
  usage: "team",
  about: "Coordinate agents and people in Markdown files",
  group: "Team & relay",
  examples: ["cortex team"],
  options: WHERE,
  run: async (given) => (await import("./look-commands.ts")).showTeam(given),
  commands: withWhere([
    {
      usage: "init",
      about: "Create the team directory and its coordinator",
      details: "It also writes templates and creates a git repository. Existing files are never overwritten.",
      examples: ["cortex team init", "cortex team init --yes --team-dir ~/team"],
      options: [
        ...TEAM_OPTIONS.slice(WHERE.length),
        ["--foreign", "Another program runs the coordinator"],
        ["--yes", "Do not prompt"],
      ],
      run: async (given) => (await import("./init-command.ts")).createTeam(given),
    },
    {
      usage: "register <name...>",
      about: "Add a member to the team",
      examples: [
        'cortex team register "Billing Dev" --project ~/billing --role "Build the billing service."',
      ],
      options: [
        ["--project <folder>", "Project folder (default: the current one)"],
        ["--role <text>", "Role, in one line"],
        ["--projects <names>", "Comma-separated project notes (default: the folder's)"],
        ["--capabilities <list>", "Comma-separated capabilities"],
        ["--foreign", "Another program runs this member; Cortex gives it no turns"],
      ],
      run: async (given) => (await import("./member-commands.ts")).register(given),
    },
    {
      usage: "list",
      about: "List members with their state and task counts",
      examples: ["cortex team list"],
      run: async (given) => (await import("./look-commands.ts")).listMembers(given),
    },
    {
      usage: "status [member...]",
      about: "Show what members are working on",
      examples: ["cortex team status", "cortex team status billing-dev"],
      run: async (given) => (await import("./look-commands.ts")).showTeam(given),
    },
    {
      usage: "dispatch <member> <title> [body...]",
      about: "Assign a task; - reads standard input",
      examples: ['cortex team dispatch billing-dev "Add a webhook" "POST /webhooks/stripe, with tests"'],
      options: [
        ["--template <name>", "Run it as a relay from this template"],
        ["--external <file>", "Task file of another program that this task mirrors"],
      ],
      run: async (given) => (await import("./work-commands.ts")).assignTask(given),
    },
    {
      usage: "tick [member...]",
      about: "Trigger a heartbeat now",
      examples: ["cortex team tick --start", "cortex team tick billing-dev"],
      options: [["--start", "Start a background server if none is running"]],
      run: async (given) => (await import("./work-commands.ts")).tick(given),
    },
    {
      usage: "watch",
      about: "Watch the team live",
      details: "Press q to quit.",
      examples: ["cortex team watch"],
      run: async (given) => (await import("./look-commands.ts")).watch(given),
    },
    {
      usage: "briefing",
      about: "Print the briefing: progress, blockers, upcoming work",
      examples: ["cortex team briefing"],
      run: async (given) => (await import("./look-commands.ts")).briefing(given),
    },
    {
      usage: "review",
      about: "Print the review: done today, blockers, next",
      examples: ["cortex team review"],
      run: async (given) => (await import("./look-commands.ts")).review(given),
    },
    {
      usage: "housekeeping",
      about: "Remove old finished tasks and session logs",
      details: "Removes tasks finished more than 7 days ago and commits the change.",
      examples: ["cortex team housekeeping"],
      run: async (given) => (await import("./work-commands.ts")).housekeeping(given),
    },
    {
      usage: "lint",
      about: "Check team files against the protocol",
      details: "It lists each deviation and how Cortex reads it.",
      examples: ["cortex team lint", "cortex team lint --fix"],
      options: [["--fix", "Fix what can be fixed without losing data"]],
      run: async (given) => (await import("./repair-command.ts")).lint(given),
    },
    {
      usage: "undo [file]",
      about: "Undo Cortex's last write to a file",
      details: "Without a file, it undoes the most recent write to any file.",
      examples: ["cortex team undo --list", "cortex team undo agents/billing-dev/tasks.md"],
      options: [["--list", "List what can be undone, newest first"]],
      run: async (given) => (await import("./repair-command.ts")).undo(given),
    },
    {
      usage: "project <name...>",
      about: "Write a project note",
      examples: ['cortex team project billing --next "Sign the webhooks"'],
      options: [
        ["--next <text>", "Next action"],
        ["--note <text>", "Note"],
      ],
      run: async (given) => (await import("./member-commands.ts")).project(given),
    },
    {
      usage: "adapter <runtime> [member...]",
      about: "Add instructions for another runtime to a project",
      details: "Runtimes: claude-code, cursor, codex, gemini, opencode, or another name.",
      examples: ["cortex team adapter claude-code billing-dev"],
      run: async (given) => (await import("./member-commands.ts")).adapter(given),
    },
    {
      usage: "adopt <member...>",
      about: "Let Cortex run a member",
      examples: ["cortex team adopt billing-dev"],
      run: async (given) => (await import("./member-commands.ts")).adopt(given),
    },
    {
      usage: "leave [member...]",
      about: "Remove a member from the team",
      details: "It gets no more tasks, and adapter text is removed from its project.",
      examples: ["cortex team leave billing-dev"],
      run: async (given) => (await import("./member-commands.ts")).leave(given),
    },
    {
      usage: "import",
      about: "Import a team from the old layout",
      details: "Nothing is removed.",
      examples: ["cortex team import"],
      run: async (given) => (await import("./member-commands.ts")).importLegacyTeam(given),
    },
  ]),
};

function withWhere(commands: readonly Command[]): Command[] {
  return commands.map((command) => ({ ...command, options: [...WHERE, ...(command.options ?? [])] }));
}

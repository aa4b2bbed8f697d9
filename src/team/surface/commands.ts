/** `cortex team …`, as the table of commands has it. */
import type { CommandEntry } from "../../feature/command.ts";

type Options = NonNullable<CommandEntry["options"]>;

/** The settings that matter wherever the team is looked at. */
const WHERE: Options = [
  ["--team-dir <folder>", "the team directory (CORTEX_TEAM_DIR, ~/cortex-team)"],
  ["--heartbeat-minutes <number>", "how often members look for work (CORTEX_HEARTBEAT_MINUTES, 15)"],
];

/** All that a server or a new team can be told. */
export const TEAM_OPTIONS: Options = [
  ...WHERE,
  ["--daily-briefing <time>", 'when the briefing is sent, or "off" (CORTEX_DAILY_BRIEFING, 09:00)'],
  ["--daily-review <time>", 'when the review is sent, or "off" (CORTEX_DAILY_REVIEW, 18:00)'],
  [
    "--telegram-chat-id <id>",
    "a setting of the protocol; Cortex has no Telegram channel yet (CORTEX_TELEGRAM_CHAT_ID)",
  ],
  [
    "--chief-of-staff-project <folder>",
    "the coordinator's project (CORTEX_CHIEF_OF_STAFF_PROJECT, the team directory)",
  ],
  ["--adopt <boolean>", "run members whose notes do not say who does: true or false (CORTEX_ADOPT, false)"],
];

export const TEAM: CommandEntry = {
  usage: "team",
  about: "let agents and people work from a folder of Markdown files: give tasks, see what becomes of them",
  examples: ["cortex team"],
  options: WHERE,
  run: async (given) => (await import("./look-commands.ts")).status(given),
  commands: withWhere([
    {
      usage: "init",
      about:
        "make the team directory, its templates, a git repository and the coordinator; nothing is overwritten",
      examples: ["cortex team init", "cortex team init --yes --team-dir ~/team"],
      options: [
        ...TEAM_OPTIONS.slice(WHERE.length),
        ["--foreign", "another program runs the coordinator"],
        ["--yes", "ask nothing"],
      ],
      run: async (given) => (await import("./init-command.ts")).init(given),
    },
    {
      usage: "register <name...>",
      about: "take somebody into the team, with a note and an empty task file",
      examples: [
        'cortex team register "Billing Dev" --project ~/billing --role "Build the billing service."',
      ],
      options: [
        ["--project <folder>", "the folder that they work in (this one)"],
        ["--role <text>", "what they do, in one line"],
        ["--projects <names>", "their project notes, with commas between them (that of the folder)"],
        ["--capabilities <list>", "what they can do, with commas between"],
        ["--foreign", "another program runs them: Cortex gives them no turns"],
      ],
      run: async (given) => (await import("./member-commands.ts")).register(given),
    },
    {
      usage: "list",
      about: "list the members: the state of each, and how many tasks it has",
      examples: ["cortex team list"],
      run: async (given) => (await import("./look-commands.ts")).list(given),
    },
    {
      usage: "status [member...]",
      about: "tell what everybody is doing, or one of them",
      examples: ["cortex team status", "cortex team status billing-dev"],
      run: async (given) => (await import("./look-commands.ts")).status(given),
    },
    {
      usage: "dispatch <member> <title> [body...]",
      about: "give somebody a task; a body of - is read from standard input",
      examples: ['cortex team dispatch billing-dev "Add a webhook" "POST /webhooks/stripe, with tests"'],
      options: [
        ["--template <name>", "run it as a relay of this template"],
        ["--external <file>", "it stands for the task file of another program"],
      ],
      run: async (given) => (await import("./work-commands.ts")).dispatch(given),
    },
    {
      usage: "tick [member...]",
      about: "have members look for work now, and not at their next heartbeat",
      examples: ["cortex team tick --start", "cortex team tick billing-dev"],
      options: [["--start", "start a server in the background if none runs"]],
      run: async (given) => (await import("./work-commands.ts")).tick(given),
    },
    {
      usage: "watch",
      about: "show the team and go on showing it as its files change; q ends it",
      examples: ["cortex team watch"],
      run: async (given) => (await import("./watch-command.ts")).watch(given),
    },
    {
      usage: "briefing",
      about: "tell what everybody does, what is in the way and what is coming",
      examples: ["cortex team briefing"],
      run: async (given) => (await import("./look-commands.ts")).briefing(given),
    },
    {
      usage: "review",
      about: "tell what got done today, what is in the way and what is next",
      examples: ["cortex team review"],
      run: async (given) => (await import("./look-commands.ts")).review(given),
    },
    {
      usage: "housekeeping",
      about: "remove tasks that were done more than 7 days ago and old session logs, and commit that",
      examples: ["cortex team housekeeping"],
      run: async (given) => (await import("./work-commands.ts")).housekeeping(given),
    },
    {
      usage: "lint",
      about: "tell all that is not as the protocol has it, and what is made of it",
      examples: ["cortex team lint", "cortex team lint --fix"],
      options: [["--fix", "put right what can be without losing anything"]],
      run: async (given) => (await import("./repair-command.ts")).lint(given),
    },
    {
      usage: "undo [file]",
      about:
        "put back what a file held before Cortex last wrote it; unless named, take back the last write of all",
      examples: ["cortex team undo --list", "cortex team undo agents/billing-dev/tasks.md"],
      options: [["--list", "only list what could be put back, newest first"]],
      run: async (given) => (await import("./repair-command.ts")).undo(given),
    },
    {
      usage: "project <name...>",
      about: "write a project note",
      examples: ['cortex team project billing --next "Sign the webhooks"'],
      options: [
        ["--next <text>", "its next action"],
        ["--note <text>", "a note"],
      ],
      run: async (given) => (await import("./member-commands.ts")).project(given),
    },
    {
      usage: "adapter <runtime> [member...]",
      about:
        "write into a member's project what claude-code, cursor, codex, gemini, opencode or another must know",
      examples: ["cortex team adapter claude-code billing-dev"],
      run: async (given) => (await import("./member-commands.ts")).adapter(given),
    },
    {
      usage: "adopt <member...>",
      about: "have Cortex work on a member's tasks",
      examples: ["cortex team adopt billing-dev"],
      run: async (given) => (await import("./member-commands.ts")).adopt(given),
    },
    {
      usage: "leave [member...]",
      about: "let a member leave: it gets no more tasks, and its project loses what adapters wrote",
      examples: ["cortex team leave billing-dev"],
      run: async (given) => (await import("./member-commands.ts")).leave(given),
    },
    {
      usage: "import",
      about: "take over a team of the layout of before; nothing is removed",
      examples: ["cortex team import"],
      run: async (given) => (await import("./member-commands.ts")).takeOver(given),
    },
  ]),
};

function withWhere(commands: readonly CommandEntry[]): CommandEntry[] {
  return commands.map((command) => ({ ...command, options: [...WHERE, ...(command.options ?? [])] }));
}

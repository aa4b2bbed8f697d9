/** `cortex people …`, as the table of commands has them. */
import { type Command, LIMIT } from "../feature/command.ts";
import { DEFAULT_NEW_ROLE } from "./roles.ts";

const ROLE = [
  "--role <role>",
  `A member may talk, a guest is only recorded (default: ${DEFAULT_NEW_ROLE})`,
] as const;
const PERMISSIONS = [
  "--permissions <json>",
  'What narrows their rights: {"tools":{"deny":["Bash"]}}',
] as const;
const LIMITS = [
  ["--pending <number>", "Messages that may wait; default: the configured limit"],
  ["--per-minute <number>", "Messages taken in a minute"],
  ["--usd-per-day <number>", "What their turns may cost in a day, in USD"],
] as const;

export const PEOPLE: readonly Command[] = [
  {
    usage: "people",
    about: "List and manage people",
    group: "Set up",
    examples: ["cortex people"],
    options: [LIMIT],
    run: async (given) => (await import("./read-commands.ts")).listPeople(given),
    commands: [
      {
        usage: "list",
        about: "List people, newest first",
        examples: ["cortex people list", "cortex people list --json"],
        options: [LIMIT],
        run: async (given) => (await import("./read-commands.ts")).listPeople(given),
      },
      {
        usage: "show <id>",
        about: "Show a person",
        examples: ["cortex people show owner"],
        run: async (given) => (await import("./read-commands.ts")).showPerson(given),
      },
      {
        usage: "add <id>",
        about: "Add a person",
        examples: [
          "cortex people add ada --identity telegram:42",
          'cortex people add bob --name "Bob Lee" --identity telegram:7,email:bob@example.com --usd-per-day 1',
        ],
        options: [
          ["--name <name>", "Name to show (default: the id)"],
          ["--identity <identities>", "As channel:sender, see `cortex events`; separate with commas"],
          ROLE,
          PERMISSIONS,
          ...LIMITS,
        ],
        run: async (given) => (await import("./change-commands.ts")).addPerson(given),
      },
      {
        usage: "link <id> <identity>",
        about: "Link an identity to a person",
        details: "Your own identities belong to the person `owner`: what comes from them is yours.",
        examples: ["cortex people link ada discord:9", "cortex people link owner telegram:1"],
        options: [["--remove", "Unlink it instead"]],
        run: async (given) => (await import("./change-commands.ts")).linkPerson(given),
      },
      {
        usage: "limit <id>",
        about: "Change what a person may do",
        details: "The value `none` removes a limit.",
        examples: [
          "cortex people limit ada --per-minute 5 --usd-per-day 0.5",
          "cortex people limit ada --permissions none",
          "cortex people limit ada --role guest",
        ],
        options: [["--role <role>", "A member may talk, a guest is only recorded"], PERMISSIONS, ...LIMITS],
        run: async (given) => (await import("./change-commands.ts")).limitPerson(given),
      },
      {
        usage: "remove <id>",
        about: "Remove a person; what they said stays",
        examples: ["cortex people remove bob"],
        run: async (given) => (await import("./change-commands.ts")).removePerson(given),
      },
      {
        usage: "forget <id>",
        about: "Remove a person and what they said",
        details:
          "Deletes the text of their messages and of the turns that answered them. Ids, times and hashes stay.",
        examples: ["cortex people forget ada --yes"],
        options: [["--yes", "Delete; it cannot be undone"]],
        run: async (given) => (await import("./change-commands.ts")).forgetPerson(given),
      },
      {
        usage: "export <id>",
        about: "Print all that is known of a person",
        details:
          "JSON lines: the person, their events, the turns on their behalf, and the files written in these.",
        examples: ["cortex people export owner > me.jsonl"],
        run: async (given) => (await import("./export-command.ts")).exportPerson(given),
      },
    ],
  },
];

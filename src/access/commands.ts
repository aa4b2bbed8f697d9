/** `cortex tokens …` and `cortex audit`, as the table of commands has them. */
import { type Command, LIMIT } from "../feature/command.ts";
import { SCOPES_USAGE } from "../model/scopes.ts";

export const ACCESS: readonly Command[] = [
  {
    usage: "tokens",
    about: "List and manage access tokens",
    group: "Set up",
    examples: ["cortex tokens"],
    options: [LIMIT],
    run: async (given) => (await import("./token-commands.ts")).listTokens(given),
    commands: [
      {
        usage: "list",
        about: "List tokens with their last use",
        examples: ["cortex tokens list", "cortex tokens list --json"],
        options: [LIMIT],
        run: async (given) => (await import("./token-commands.ts")).listTokens(given),
      },
      {
        usage: "create <name>",
        about: "Create a token; it is printed once",
        details: `Scopes: ${SCOPES_USAGE}. Separate several with commas.`,
        examples: [
          "cortex tokens create backup-check --can read",
          "cortex tokens create doorbell --can ingest:doorbell --expires 30d",
        ],
        options: [
          ["--can <scopes>", "What it may do: read, send, approve, admin, ingest:<adapter>"],
          ["--expires <span>", "When it expires: 12h, 30d, 8w (default: never)"],
        ],
        run: async (given) => (await import("./token-commands.ts")).createToken(given),
      },
      {
        usage: "revoke <id>",
        about: "Revoke a token",
        examples: ["cortex tokens revoke 01K5G7T9M3V8W2XQ4R6Z0B1C2D"],
        run: async (given) => (await import("./token-commands.ts")).revokeToken(given),
      },
      {
        usage: "rotate",
        about: "Replace the main token",
        details:
          "The old one is void at once, and browsers are logged out. Commands on this machine pick up the new one automatically.",
        examples: ["cortex tokens rotate"],
        run: async (given) => (await import("./token-commands.ts")).rotateMainToken(given),
      },
    ],
  },
  {
    usage: "audit",
    about: "List decisions and permission changes",
    details: "To check that no entry was changed or removed, run `cortex verify`.",
    group: "Look",
    examples: ["cortex audit", "cortex audit --since 7d", "cortex audit --person ada --json"],
    options: [
      ["--since <moment>", "Only at or after this time: 2026-03-01, 12h, 7d"],
      ["--person <id>", "Only what this person decided, or was decided about them"],
      LIMIT,
    ],
    run: async (given) => (await import("./audit-command.ts")).listAudit(given),
  },
];

import type { Command } from "../feature/command.ts";

export const KEEP: readonly Command[] = [
  {
    usage: "backup <file>",
    about: "Back up the home to a verified file",
    details: "The file holds the database and the home's files; the server can keep running.",
    group: "Keep",
    examples: ["cortex backup ~/cortex.backup", "cortex backup /mnt/disk/cortex.backup --keys"],
    options: [["--keys", "Include config/.env, which holds your API keys"]],
    run: async (given) => (await import("./backup-command.ts")).backup(given),
  },
  {
    usage: "restore <file>",
    about: "Restore a backup to a new home",
    details: "An existing home is never overwritten.",
    group: "Keep",
    examples: [
      "cortex restore ~/cortex.backup --check",
      "cortex restore ~/cortex.backup --home ~/.cortex-restored",
    ],
    options: [["--check", "Verify the backup without restoring it"]],
    run: async (given) => (await import("./restore-command.ts")).restoreBackup(given),
  },
  {
    usage: "prune",
    about: "Delete the content of old turns",
    details: "Ids, hashes, costs and the tree of turns are kept.",
    group: "Keep",
    examples: ["cortex prune --before 90d", "cortex prune --before 2026-01-01 --yes"],
    options: [
      ["--before <moment>", "Prune content older than this: 2026-03-01, 90d, 12w (at least a day)"],
      ["--yes", "Prune; without it, only report what would be deleted"],
    ],
    run: async (given) => (await import("./prune-command.ts")).pruneOldContent(given),
  },
  {
    usage: "verify",
    about: "Verify all turns and the audit log",
    group: "Keep",
    examples: ["cortex verify"],
    run: async (given) => (await import("./verify-command.ts")).verify(given),
  },
];

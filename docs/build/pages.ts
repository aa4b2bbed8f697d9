/** All pages, in the order of the index and the site. A test fails if a page is missing here. */

export interface Section {
  readonly title: string;
  /** Files of `docs` with a short description. */
  readonly pages: readonly (readonly [file: string, about: string])[];
}

export const INDEX = "README.md";

export const SECTIONS: readonly Section[] = [
  {
    title: "Start",
    pages: [
      ["demo.md", "a tour of everything in two minutes, without a key"],
      ["getting-started.md", "a conversation, a fork, a hook, a relay and a team task in five minutes"],
      ["chat.md", "commands and keys of the chat"],
      ["configuration.md", "the files of the home, models, and precedence of settings"],
      ["local-models.md", "use a model on your own machine"],
      ["offline.md", "the built-in model, which needs no network and no key"],
    ],
  },
  {
    title: "Concepts",
    pages: [
      ["concepts.md", "events, hooks, turns, threads and sessions, and how they fit together"],
      ["agents-and-personas.md", "who runs turns, with which permissions"],
      ["queue-modes.md", "what a message to a busy session does"],
      ["context.md", "what the model gets, and how to shape it"],
      ["delegating.md", "managers, workers, and how results come back"],
      ["delivery.md", "what happens to an answer after its turn"],
      ["security.md", "how Cortex protects you, your keys and your data"],
    ],
  },
  {
    title: "Tasks",
    pages: [
      ["hooks.md", "decide what an event means in a few lines of TypeScript"],
      ["channels.md", "talk to your agents in chat apps: who may talk, connections, settings"],
      ["telegram.md", "connect a Telegram bot"],
      ["discord.md", "connect a Discord bot"],
      ["webhooks.md", "receive events from other programs"],
      ["files.md", "turn files in a folder into events"],
      ["schedules.md", "run something at a given time"],
      ["relays.md", "let agents pass a piece of work along"],
      ["relay-templates.md", "write your own relay"],
      ["relay-scripts.md", "run commands between the steps of a relay"],
      ["teams.md", "share one task folder between agents and people"],
      ["team-adapters.md", "add agents that Cortex does not run, such as Claude Code"],
      ["sub-agents.md", "run workers as separate processes"],
      ["approvals.md", "approve tool calls and answer questions"],
      ["sandbox.md", "isolate the commands of agents"],
      ["people.md", "who may talk to your agents, with which rights and limits"],
      ["tokens.md", "give other programs only the access they need; see who decided what"],
      ["plugins.md", "give agents third-party skills and tool hooks, pinned by content hash"],
      ["limits-and-faults.md", "limit usage and costs; handle model failures"],
      ["search.md", "search the ledger"],
      ["scripting.md", "use Cortex from scripts and other programs"],
      ["service.md", "start Cortex at login and restart it on failure"],
      ["keeping.md", "back up, restore, prune, update, compare branches, move to another machine"],
    ],
  },
  {
    title: "Reference",
    pages: [
      ["reference/cli.md", "every command, option and exit code"],
      ["reference/config.md", "every key of every file, and every variable"],
      ["reference/http.md", "all requests and responses, field by field"],
      ["http-api.md", "the HTTP API explained, with an example of every request"],
      ["tools.md", "all tools of agents"],
      ["relay-reference.md", "every field of relay agents and templates"],
      ["team-files.md", "the file formats of a team"],
      ["sub-agent-protocol.md", "the messages between Cortex and a sub-agent"],
      ["channel-plugins.md", "connect other chat platforms, with a module or a program"],
      ["store.md", "the content of the ledger, and how to query it"],
      ["errors.md", "every error code, and what to do about it"],
    ],
  },
  {
    title: "Help",
    pages: [
      ["troubleshooting.md", "solutions by symptom"],
      ["insight.md", "trace events, check health and costs"],
      ["recovery.md", "what happens after a crash or a failure"],
      ["faq.md", "frequently asked questions"],
      ["comparison.md", "OpenClaw, LangGraph, Temporal, n8n and others, and when not to use Cortex"],
      ["developing.md", "tests, simulation, crash harness, benchmarks"],
    ],
  },
];

/** All pages, the index first. */
export const PAGES: readonly string[] = [
  INDEX,
  ...SECTIONS.flatMap(({ pages }) => pages.map(([file]) => file)),
];

/** `reference/cli.md` becomes `reference/cli.html`, and the index `index.html`. */
export function htmlFile(file: string): string {
  return file === INDEX ? "index.html" : file.replace(/\.md$/, ".html");
}

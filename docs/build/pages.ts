/** Every page, in the order in which the index and the site show them. A page that is not here is a failed test. */

export interface Section {
  readonly title: string;
  /** Files of `docs`, each with what one finds there. */
  readonly pages: readonly (readonly [file: string, about: string])[];
}

export const INDEX = "README.md";

export const SECTIONS: readonly Section[] = [
  {
    title: "Start",
    pages: [
      ["demo.md", "everything in a minute, without a key"],
      ["getting-started.md", "five minutes: a conversation, a fork, a hook, a relay, a task of a team"],
      ["chat.md", "the chat in a terminal: its commands and keys"],
      ["configuration.md", "the files of the home, models, and what comes first"],
      ["local-models.md", "a model on your own machine"],
      ["offline.md", "the model that needs no network and no key"],
    ],
  },
  {
    title: "Concepts",
    pages: [
      ["concepts.md", "events, hooks, turns, threads and sessions, and how they hang together"],
      ["agents-and-personas.md", "who runs turns, and what each of them may do"],
      ["queue-modes.md", "what a message does that finds its session busy"],
      ["context.md", "what a model is given, and how to shape it"],
      ["delegating.md", "managers, workers, and how results come back"],
      ["delivery.md", "what happens to an answer after its turn"],
      ["security.md", "what stands between strangers, your keys and your agents"],
    ],
  },
  {
    title: "Tasks",
    pages: [
      ["hooks.md", "decide what an event means, in a few lines of TypeScript"],
      ["webhooks.md", "let other programs tell Cortex what happened"],
      ["files.md", "let files in a folder become events"],
      ["schedules.md", "have something done by the clock"],
      ["relays.md", "have agents pass a piece of work along"],
      ["relay-templates.md", "write a relay of your own"],
      ["relay-scripts.md", "have commands run between the steps of a relay"],
      ["teams.md", "give agents and people one folder to take their tasks from"],
      ["team-adapters.md", "bring agents of other programs into a team"],
      ["sub-agents.md", "let workers run as processes of their own"],
      ["approvals.md", "be asked before something is done"],
      ["sandbox.md", "keep the commands of agents in bounds"],
      [
        "limits-and-faults.md",
        "limit what a turn may use and a day may cost; what happens when a model fails",
      ],
      ["search.md", "find what was said"],
      ["scripting.md", "use Cortex from scripts and other programs"],
      ["service.md", "have Cortex started at login and restarted when it fails"],
      ["keeping.md", "back up, compare branches, forget what is old, update, move to another machine"],
    ],
  },
  {
    title: "Reference",
    pages: [
      ["reference/cli.md", "every command, option and exit code"],
      ["reference/config.md", "every key of every file, and every variable"],
      ["reference/http.md", "every request and answer, field by field"],
      ["http-api.md", "the HTTP API explained, with an example of every request"],
      ["tools.md", "what agents can do, tool by tool"],
      ["relay-reference.md", "every field of agents and templates of relays"],
      ["team-files.md", "the files of a team, as programs read and write them"],
      ["sub-agent-protocol.md", "what a program says to be a sub-agent"],
      ["store.md", "what the ledger holds, and how to query it"],
      ["errors.md", "every error code, and what to do about it"],
    ],
  },
  {
    title: "Help",
    pages: [
      ["troubleshooting.md", "by what you see: why, and what to do"],
      ["insight.md", "why something happened, and whether Cortex is well"],
      ["recovery.md", "what a crash leaves behind, and dead letters"],
      ["faq.md", "questions that people ask"],
      ["comparison.md", "beside OpenClaw, LangGraph, Temporal, n8n and others, and when not to use Cortex"],
      ["developing.md", "tests, simulation, crash harness, benchmarks"],
    ],
  },
];

/** All of them, the index first. */
export const PAGES: readonly string[] = [
  INDEX,
  ...SECTIONS.flatMap(({ pages }) => pages.map(([file]) => file)),
];

/** `reference/cli.md` is `reference/cli.html`; the index is where browsers look for one. */
export function htmlFile(file: string): string {
  return file === INDEX ? "index.html" : file.replace(/\.md$/, ".html");
}

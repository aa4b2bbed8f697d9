/**
 * The commands there are. Each is imported when it is asked for, so that `--help` loads nothing but this
 * table and commander, and `version` and `sub-agent run` not even those.
 */
import type { CommandEntry } from "./command.ts";
import { TEAM, TEAM_OPTIONS } from "./team-commands.ts";

const LIMIT = ["--limit <number>", "at most so many"] as const;

const COMMANDS: readonly CommandEntry[] = [
  {
    usage: "up",
    about: "start Cortex and serve its home until it is told to stop",
    options: [
      ["--port <number>", "the port to listen on (CORTEX_PORT, 4747)"],
      ["--host <address>", "the address to listen on (CORTEX_HOST, 127.0.0.1)"],
      ["--profile <name>", "the profile that answers where nothing else is said (CORTEX_PROFILE)"],
      ...TEAM_OPTIONS,
    ],
    async run(given) {
      (await import("./bound-memory.ts")).boundMemory();
      await (await import("./up.ts")).up(given);
    },
  },
  {
    usage: "chat",
    about: "talk to an agent, see it work, and steer it",
    options: [
      ["--session <key>", "the session to talk in (agent:main:main)"],
      ["--profile <name>", "answer with this profile"],
      ["--start", "start a server in the background if none runs"],
    ],
    run: async (given) => (await import("./chat.ts")).chat(given),
  },
  {
    usage: "send <text...>",
    about: "send one message; - reads it from standard input",
    options: [
      ["--session <key>", "to this session"],
      ["--thread <turn>", "to the thread that ends with this turn"],
      ["--persona <name>", "to the main session of this persona"],
      ["--smart", "to where it fits best"],
      ["--mode <mode>", "what it does if the session is busy: steer, followup, interrupt, …"],
      ["--profile <name>", "answer with this profile"],
      ["--wait", "wait for the answer and print it"],
      ["--key <key>", "the same key is the same message, however often it is sent"],
      ["--start", "start a server in the background if none runs"],
    ],
    run: async (given) => (await import("./send.ts")).send(given),
  },
  {
    usage: "init",
    about: "write commented files of configuration; none is overwritten",
    run: async (given) => (await import("./init.ts")).init(given),
  },
  {
    usage: "status",
    about: "say whether a server runs, how it is doing, and what there is to do",
    run: async (given) => (await import("./status.ts")).status(given),
  },
  {
    usage: "doctor",
    about: "look at everything that Cortex needs, and say what is wrong with it",
    run: async (given) => (await import("./doctor.ts")).doctor(given),
  },
  {
    usage: "config",
    about: "print the settings in effect and where each comes from",
    run: async (given) => (await import("./config.ts")).config(given),
  },
  {
    usage: "sessions",
    about: "list the sessions, most recently used first",
    options: [["--tree", "workers below the session that started them"], LIMIT],
    run: async (given) => (await import("./sessions.ts")).sessions(given),
  },
  {
    usage: "log [session|turn]",
    about: "draw the thread of a session or a turn with its branches",
    options: [["--all", "the threads of all sessions"], LIMIT],
    run: async (given) => (await import("./log.ts")).log(given),
  },
  {
    usage: "show <turn>",
    about: "print everything of one turn",
    run: async (given) => (await import("./show.ts")).show(given),
  },
  {
    usage: "context [session]",
    about: "tell what the model of a session is given, and how many tokens each part of it takes",
    options: [["--full", "with the texts"]],
    run: async (given) => (await import("./context.ts")).context(given),
  },
  {
    usage: "why <id>",
    about: "tell what became of an event, and why; the id may also be of a turn, a delivery or a queue item",
    run: async (given) => (await import("./why.ts")).why(given),
  },
  {
    usage: "fork <turn> [message...]",
    about: "begin a new session at a turn; the old thread stays as it is",
    options: [
      ["--session <label>", "what the new session is called"],
      ["--wait", "wait for the answer to the message and print it"],
    ],
    run: async (given) => (await import("./fork.ts")).fork(given),
  },
  {
    usage: "verify",
    about: "check the hash of every turn in the ledger",
    run: async (given) => (await import("./verify.ts")).verify(given),
  },
  {
    usage: "events",
    about: "list what was taken in and sent out, newest first",
    options: [
      ["--follow", "go on with what happens from now on"],
      ["--why", "with the hooks that fired for each, and where it went"],
      ["--channel <name>", "only of this channel"],
      LIMIT,
    ],
    run: async (given) => (await import("./events.ts")).events(given),
  },
  {
    usage: "search <text...>",
    about: "find what was said, by its words, best first",
    options: [
      ["--channel <name>", "only in this channel"],
      ["--since <moment>", "not before: 2026-03-01, 2026-03-01T09:30, or ago: 30m, 12h, 7d, 2w"],
      ["--until <moment>", "before"],
      LIMIT,
    ],
    run: async (given) => (await import("./search.ts")).search(given),
  },
  {
    usage: "queue [session]",
    about: "list the messages that wait",
    options: [LIMIT],
    run: async (given) => (await import("./queue.ts")).queue(given),
  },
  {
    usage: "runs",
    about: "list the runs, newest first",
    options: [["--state <state>", "only those in this state"], LIMIT],
    run: async (given) => (await import("./runs.ts")).runs(given),
  },
  {
    usage: "approvals",
    about: "list what agents ask you, or decide it",
    options: [["--all", "also what is decided"], LIMIT],
    run: async (given) => (await import("./approvals.ts")).list(given),
    commands: [
      {
        usage: "list",
        about: "list what waits for you",
        options: [["--all", "also what is decided"], LIMIT],
        run: async (given) => (await import("./approvals.ts")).list(given),
      },
      {
        usage: "show <id>",
        about: "print a call or a question in full",
        run: async (given) => (await import("./approvals.ts")).show(given),
      },
      {
        usage: "approve <id>",
        about: "let the call be made, once",
        run: async (given) => (await import("./approvals.ts")).approve(given),
      },
      {
        usage: "deny <id> [reason...]",
        about: "refuse the call; the agent reads the reason",
        run: async (given) => (await import("./approvals.ts")).deny(given),
      },
      {
        usage: "answer <id> <text...>",
        about: "answer a question",
        run: async (given) => (await import("./approvals.ts")).answer(given),
      },
    ],
  },
  {
    usage: "hooks",
    about: "list the hooks, look at one, try it, or write one",
    run: async (given) => (await import("./hooks.ts")).list(given),
    commands: [
      {
        usage: "list",
        about: "list the hooks",
        run: async (given) => (await import("./hooks.ts")).list(given),
      },
      {
        usage: "show <name>",
        about: "print all of one: what it does, how it does, its source and its last runs",
        run: async (given) => (await import("./hooks.ts")).show(given),
      },
      {
        usage: "test <name>",
        about: "see what it says to an event; nothing is recorded or done",
        options: [
          ["--event <id>", "an event of the ledger"],
          ["--channel <name>", "else: one of this channel"],
          ["--content <text>", "that says this"],
          ["--sender <id>", "from them"],
          ["--payload <json>", "with this payload"],
          ["--metadata <json>", "with this metadata"],
          ["--adapter <name>", "of this adapter (the channel)"],
          ["--at <moment>", "at this moment (now)"],
        ],
        run: async (given) => (await import("./hooks.ts")).test(given),
      },
      {
        usage: "enable <name>",
        about: "let it judge events from now on",
        run: async (given) => (await import("./hooks.ts")).enable(given),
      },
      {
        usage: "disable <name>",
        about: "keep it from judging events",
        run: async (given) => (await import("./hooks.ts")).disable(given),
      },
      {
        usage: "new <name>",
        about: "write a hook that you can fill in",
        options: [
          ["--schedule <when>", 'fires by the clock: "0 9 * * 1-5", "every 30m", "at 2026-12-01T09:00"'],
        ],
        run: async (given) => (await import("./hooks.ts")).create(given),
      },
      {
        usage: "runs <name>",
        about: "list what it has judged, newest first",
        options: [LIMIT],
        run: async (given) => (await import("./hooks.ts")).runs(given),
      },
      {
        usage: "next",
        about: "list what will fire when",
        options: [LIMIT],
        run: async (given) => (await import("./hooks.ts")).next(given),
      },
    ],
  },
  {
    usage: "relay",
    about: "let agents pass an artifact along: start relays, look at them, steer them",
    options: [["--running", "only those that are not over"], LIMIT],
    run: async (given) => (await import("./relay.ts")).list(given),
    commands: [
      {
        usage: "run <template|agent> <message...>",
        about: "start a relay; a message of - is read from standard input",
        options: [
          ["--dir <folder>", "where its agents work (a folder of its own)"],
          ["--profile <name>", "for its agents that run on the active profile"],
          ["--budget <usd>", "what all of it may cost at most"],
          ["--key <key>", "the same key is the same relay, however often it is started"],
          ["--dry-run", "only show the way that it takes with the offline model"],
          ["--wait", "show how it goes on, and print what comes of it"],
          ["--start", "start a server in the background if none runs"],
        ],
        run: async (given) => (await import("./relay-run.ts")).run(given),
      },
      {
        usage: "add <relay|turn> <agent> [message...]",
        about: "let one more agent go on with a relay that has ended, or with a turn",
        options: [["--wait", "show how it goes on, and print what comes of it"]],
        run: async (given) => (await import("./relay-run.ts")).add(given),
      },
      {
        usage: "list",
        about: "list the relays, newest first",
        options: [["--running", "only those that are not over"], LIMIT],
        run: async (given) => (await import("./relay.ts")).list(given),
      },
      {
        usage: "status [relay|turn]",
        about: "tell where a relay is and what its steps have done; unless named, the newest",
        run: async (given) => (await import("./relay.ts")).status(given),
      },
      {
        usage: "show <relay|turn>",
        about: "print all of a relay: its steps with what they answered, and its artifact",
        options: [
          ["--diff", "what each step has changed in the artifact"],
          ["--step <number>", "the artifact as it was after this step"],
        ],
        run: async (given) => (await import("./relay.ts")).show(given),
      },
      {
        usage: "say <relay> <message...>",
        about: "write to a relay that runs: its next step is told",
        run: async (given) => (await import("./relay-run.ts")).say(given),
      },
      {
        usage: "cancel <relay>",
        about: "end a relay that runs",
        run: async (given) => (await import("./relay-run.ts")).cancel(given),
      },
      {
        usage: "resume <relay>",
        about: "go on with a relay that has failed or was cancelled; no step is done twice",
        options: [["--wait", "show how it goes on, and print what comes of it"]],
        run: async (given) => (await import("./relay-run.ts")).resume(given),
      },
      {
        usage: "agents",
        about: "list the agents that relays can have",
        run: async (given) => (await import("./relay-config.ts")).agents(given),
      },
      {
        usage: "templates",
        about: "list the templates that relays can be started from",
        run: async (given) => (await import("./relay-config.ts")).templates(given),
      },
      {
        usage: "validate",
        about: "look for what is wrong with templates, agents and prompts, and say how markers are read",
        run: async (given) => (await import("./relay-config.ts")).validate(given),
      },
    ],
  },
  TEAM,
  {
    usage: "costs",
    about: "tell what turns have cost",
    options: [
      ["--by <what>", "day, session, agent, persona or model (day)"],
      ["--days <number>", "in so many days, today included (30)"],
    ],
    run: async (given) => (await import("./costs.ts")).costs(given),
  },
  {
    usage: "dead",
    about: "list what could not be answered or delivered, or do something about it",
    options: [LIMIT],
    run: async (given) => (await import("./dead.ts")).list(given),
    commands: [
      {
        usage: "list",
        about: "list them, those that died last first",
        options: [LIMIT],
        run: async (given) => (await import("./dead.ts")).list(given),
      },
      {
        usage: "show <id>",
        about: "print one, with what happened to it",
        run: async (given) => (await import("./dead.ts")).show(given),
      },
      {
        usage: "retry <id>",
        about: "try it again",
        run: async (given) => (await import("./dead.ts")).retry(given),
      },
      {
        usage: "drop <id>",
        about: "give it up",
        run: async (given) => (await import("./dead.ts")).drop(given),
      },
    ],
  },
  {
    usage: "agents",
    about: "list the agents, look at one, or make one",
    run: async (given) => (await import("./agents.ts")).list(given),
    commands: [
      {
        usage: "list",
        about: "list the agents",
        run: async (given) => (await import("./agents.ts")).list(given),
      },
      {
        usage: "show <id>",
        about: "print all of one: its model, its files, what it may do and why",
        run: async (given) => (await import("./agents.ts")).show(given),
      },
      {
        usage: "check",
        about: "look for what is wrong with agents and personas",
        run: async (given) => (await import("./check.ts")).check(given),
      },
      {
        usage: "create <id>",
        about: "add one to cortex.json; comments and order are kept",
        options: [
          ["--persona <id>", "the persona that it has (atlas)"],
          ["--profile <name>", "the profile that it runs on (the active one)"],
          ["--role <role>", "manager or worker (worker)"],
          ["--tools <tools>", "the tools that it has, with commas between them (*)"],
          ["--workspace <folder>", "its folder (workspaces/<id> in the home)"],
        ],
        run: async (given) => (await import("./agents.ts")).create(given),
      },
    ],
  },
  {
    usage: "personas",
    about: "list the personas and what they may do, look at one, or make one",
    run: async (given) => (await import("./personas.ts")).list(given),
    commands: [
      {
        usage: "list",
        about: "list the personas",
        run: async (given) => (await import("./personas.ts")).list(given),
      },
      {
        usage: "show <id>",
        about: "print all of one: who it is, what it may do and why, and which agents have it",
        run: async (given) => (await import("./personas.ts")).show(given),
      },
      {
        usage: "check",
        about: "look for what is wrong with agents and personas",
        run: async (given) => (await import("./check.ts")).check(given),
      },
      {
        usage: "create <id>",
        about: "add one to cortex.json; comments and order are kept",
        options: [
          ["--name <name>", "what it is called (its id with a capital letter)"],
          ["--soul <text>", "who it is, in its own words"],
          ["--emoji <sign>", "a sign beside its name"],
          ["--deny <tools>", "tools that it may not use, with commas between them"],
          ["--ask <tools>", "tools of which every call needs your yes, with commas between them"],
        ],
        run: async (given) => (await import("./personas.ts")).create(given),
      },
    ],
  },
  {
    usage: "sub-agent",
    about: "be a sub-agent, or check a program that is to be one",
    commands: [
      {
        usage: "run",
        about: "be a sub-agent: read its task from standard input, say what comes of it on standard output",
        run: async () => (await import("./sub-agent.ts")).run(),
      },
      {
        usage: "check <command...>",
        about: "find out whether a program speaks the protocol of sub-agents; write -- before it",
        options: [["--seconds <number>", "how long it may take for an answer (60)"]],
        run: async (given) => (await import("./sub-agent-check.ts")).check(given),
      },
    ],
  },
  {
    usage: "version",
    about: "say which Cortex and which Node this is",
    run: async (given) => (await import("./version.ts")).version(given.print.json),
  },
];

process.exitCode = await main(process.argv.slice(2));

async function main(argv: readonly string[]): Promise<number> {
  if (argv.length === 1 && ["version", "--version", "-V", "-v"].includes(argv[0]!)) {
    (await import("./version.ts")).version(false);
    return 0;
  }
  if (argv.length === 2 && argv[0] === "sub-agent" && argv[1] === "run") {
    await (await import("./sub-agent.ts")).run();
  }
  const { runCommandLine } = await import("./command-line.ts");
  return runCommandLine(COMMANDS, { argv, environment: process.env });
}

// The benchmarks there are.

import { benchAgents } from "./agents/run.ts";
import { benchBroker } from "./broker/run.ts";
import { benchChannels } from "./channels/run.ts";
import { benchClone } from "./clone/run.ts";
import { benchContext } from "./context/run.ts";
import { benchDepth } from "./depth/run.ts";
import type { Report } from "./goal.ts";
import { benchHooks } from "./hooks/run.ts";
import { benchPath } from "./path/run.ts";
import { benchRelay } from "./relay/run.ts";
import { benchSearch } from "./search/run.ts";
import { benchFlood } from "./server/flood.ts";
import { benchServer } from "./server/run.ts";
import { benchStartup } from "./startup/run.ts";
import { benchTeam } from "./team/run.ts";

export interface Bench {
  readonly title: string;
  readonly about: string;
  readonly run: () => Promise<Report>;
}

/** In the order in which they are run and told of. */
export const BENCHES: Readonly<Record<string, Bench>> = {
  clone: {
    title: "Clone: from nothing to the first answer",
    about:
      "What is committed is cloned into an empty folder, installed with the machine's own npm, whose cache has all that it needs if it was ever installed here, started on a home that does not exist, and asked. No model: the built-in one answers.",
    run: benchClone,
  },
  startup: {
    title: "Startup: how long a person waits for the command line",
    about:
      "The built program, laid out as it is when it is installed. Medians of 21 rounds, in turns with bare node, which is `node -e 0`; CPU is that of the user and the system, its mean.",
    run: benchStartup,
  },
  broker: {
    title: "Broker: accept → lease → commit",
    about:
      "Each message is 2 KB, each turn 3 messages and 1 tool call of 2 KB. Everything lies in memory and every sync takes 1 ms (`slowsync.c`), so this ranks contenders and says nothing about a disk. Medians of 3 rounds, contenders in turn. Cortex also writes the dispatch, the queue item, the run, the answer's event and its delivery; the bare loop writes the same rows, the job queues do not. `loop p99` is the event-loop delay of the main thread; an idle one shows about 1.1.",
    run: benchBroker,
  },
  depth: {
    title: "Depth: one thread that grows",
    about: "About 430 bytes each way, syncs free. A turn is accept and commit, one after the other; medians.",
    run: benchDepth,
  },
  context: {
    title: "Context: what a model is given",
    about:
      "A session of 10,000 turns of about 430 bytes each way, a model with a window of 128,000 tokens, five files of 4 KB and 50 skills in the workspace. Assembled is what a run does before it asks the model: system prompt, skills, history; explained is `cortex context`. Of a session that was never compacted, only as much is read as shows that it does not fit. Everything lies in memory.",
    run: benchContext,
  },
  server: {
    title: "Server: start, memory, what is added to a message, a crowd",
    about:
      "The built program as a process of its own on the disk of this machine, asked over HTTP; the model is another process, and answers at once. Ready is the first answer to `GET /api/health`, for OpenClaw to `GET /readyz`. The bare server reads a message, writes it to a file with one sync, and asks the model. Memory is resident memory, peaks are those of the server's own process; CPU is that of all its threads.",
    run: benchServer,
  },
  path: {
    title: "Path: where the time of a message goes",
    about:
      "The built program as a process of its own on the disk of this machine; the model is another process, and answers at once. Messages come one after the other over one connection. The stages are those of `cortex why --timing`, measured by the server itself; CPU is that of all its threads, and its share is of what the stages used together.",
    run: benchPath,
  },
  flood: {
    title: "Flood: 10,000 messages at once",
    about:
      "The built program as a process of its own on the disk of this machine. 50 connections post as fast as they are answered, to a model that is silent until all is in; then it answers at once. Accepted is what was answered with success, refused what was not; what became of the messages is read from the database when nothing waits any more. Of a session at most 20 messages wait, the older ones are dropped by the policy `summarize`. Memory is resident memory of the server's own process.",
    run: benchFlood,
  },
  search: {
    title: "Search: what was said, by its words",
    about:
      "Events of 5 to 60 words out of 60,000, the n-th most common word a n-th as often. Everything lies in memory and syncs are free. A step of the index takes 64 events. A query is timed from the call of the store to its answer, so it includes the way to the process that searches and back; 100 queries of each kind, one after another. `loop p99` is the event-loop delay of the main thread meanwhile.",
    run: benchSearch,
  },
  hooks: {
    title: "Hooks: from an event to its dispatch",
    about:
      "The whole runtime, with hooks in processes of their own; everything lies in memory. One hook fires, the others do not: they are all asked, or kept back by their filters. Events come one after the other; the time is from accepting an event to the commit of its dispatch. The main thread's time is that of events for which no hook fires, with everything that is written for them. Beside a hook that spins or leaks, events come every 20 ms for 20 s, from the first moment on; `loop` is the event-loop delay of the main thread meanwhile.",
    run: benchHooks,
  },
  channels: {
    title: "Channels: what a chat channel costs",
    about:
      "The built program as a process of its own on the disk of this machine; Telegram is played in the process of the benchmark, and the model is another process that answers at once. The time of a message is from the moment when the played Telegram answers the waiting poll until the model is asked; one hook is asked about each message. Memory is resident memory of the server and its processes, two seconds after it has answered one message over HTTP, or one on Telegram; medians of 3 rounds. Rendering is parsing and rendering in one go, the median of 3 rounds; a server does it in slices.",
    run: benchChannels,
  },
  agents: {
    title: "Agents: workers and the processes of sub-agents",
    about:
      "No model: scripts that answer at once. Ready is from asking for a process until it says that it has taken its work; cold ones are started for it, from the source and with its compiled code cached. A trip is what the ledger has as the beginning and the end of a call that waits for a worker: the work is given, the turn is suspended, the worker's turn is made and committed, the end is told of, the turn goes on. The whole runtime runs in one process and everything lies in memory, so syncs are free; with syncs of 5 ms it takes as much longer as there are syncs that it waits for. 50 at once are two managers with 25 sub-agents each, all in processes of their own, none of which was there before.",
    run: benchAgents,
  },
  relay: {
    title: "Relay: what a step costs beside its turn",
    about:
      "No model: a script that answers at once. A relay has 10 steps of 10 agents, each in a session of its own; by hand the same prompts are sent to sessions of their own, each when the one before it is answered. One after the other, relays and turns by hand alternate; their difference is what the engine adds: the end of a step is recorded, the artifact kept, the rules asked, the next prompt put together. The whole runtime runs in one process and everything lies in memory. Of 100 at once, 8 turns run at the same time, as is configured unless told otherwise; memory is the peak of resident memory of the whole process.",
    run: benchRelay,
  },
  team: {
    title: "Team: a thousand members, and a long task file",
    about:
      "Everything lies in memory. Status reads the note and the tasks of each member; the first look is that of a new process. Plainly means: the same files read with one call each and nothing understood; and for what is written, the file read, one word replaced, written beside it and renamed. A tick or a claim of ours also takes the lock, keeps a snapshot, syncs the file and its folder, looks whether somebody else wrote meanwhile, and writes it down.",
    run: benchTeam,
  },
};

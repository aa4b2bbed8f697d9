/**
 * What `config/cortex.json` may hold. The descriptions are the help that editors show, through the JSON
 * Schema, and the hints of whatever is wrong with the file.
 *
 * What depends on another part of the configuration (a name that must exist, a default made from an id)
 * is not here: see references.ts and config.ts.
 */
import { z } from "zod";
import { DEFAULT_ACCOUNT } from "../model/ids.ts";
import { ACTIVE_PROFILE } from "../model/profile.ts";
import {
  DEFAULT_MODE_OF_AGENTS,
  DEFAULT_MODE_OF_PEOPLE,
  parseQueueMode,
  QUEUE_MODES,
} from "../model/queue-mode.ts";
import {
  DROP_POLICIES,
  INTERRUPT_POLICIES,
  MAX_DEBOUNCE_MS,
  MAX_QUEUE_CAP,
} from "../model/queue-settings.ts";
import { normalizeSessionKey } from "../model/session-key.ts";
import { checkPlugins } from "./channel-plugins.ts";
import { CHAT_CHANNELS, chatChannels } from "./channels-schema.ts";
import { planned } from "./planned.ts";
import { quote } from "./problem.ts";
import { env, hosts, named, parsed, text, texts, usd, variable, whole } from "./schema-parts.ts";

/** How many hooks look at each tool call, at most. */
export const MAX_TOOL_HOOKS = 100;
/** How long one of them may hold a call up. */
export const MAX_TOOL_HOOK_MS = 600_000;
/** How long a file may have to settle. */
export const MAX_SETTLE_MS = 600_000;
/** How much of a file an event may hold, which has other parts too. */
export const MAX_FILE_TEXT_BYTES = 512 * 1024;
/** How deep workers may go, and how many messages of agents may follow each other, whatever is configured. */
export const MAX_DEPTH = 16;
export const MAX_CHAIN = 1_000;
export const MAX_RETURNS = 100_000;
export const MAX_GATHER_MS = 60_000;
/** How long a sub-agent may take. */
export const MAX_SUB_AGENT_MS = 86_400_000;
/** How much CPU time one command may take, and how large files and folders may be: what a shell can count. */
const MAX_CPU_SECONDS = 31_536_000;
const MAX_MB = 1_000_000_000;
/** How many people may be paired. */
export const MAX_PAIRED = 10_000;

const queueMode = (description: string) => parsed(parseQueueMode, description, QUEUE_MODES);

const limits = z
  .strictObject({
    modelCalls: whole(1, "Maximum number of model calls per turn.").default(50),
    costUsd: usd("Cost limit per turn, in USD.").default(5),
    wallClockMs: whole(1_000, "Time limit per turn over all its attempts, in ms.").default(3_600_000),
    repeatedCalls: whole(1, "How often a turn may repeat the same tool call.").default(5),
    silenceMs: whole(1, "How long a model may stall before the request is retried, in ms.").default(600_000),
    memoryMb: whole(1, "Memory of all commands of the agent that run at the same time, in MB.")
      .max(MAX_MB)
      .default(1_536),
    processes: whole(1, "Processes of all commands of the agent that run at the same time.").default(256),
    cpuSeconds: whole(1, "CPU time of one command, in seconds.").max(MAX_CPU_SECONDS).default(600),
    openFiles: whole(16, "Files that one process of a command may have open.").default(4_096),
    fileMb: whole(1, "Largest file that a command may write, in MB.").max(MAX_MB).default(1_024),
  })
  .describe("Limits for one turn of the agent, and for the commands it runs.");

export const agentEntrySchema = z
  .strictObject({
    persona: text("Persona that provides its identity and permissions.").default("atlas"),
    profile: text(`Model profile; "${ACTIVE_PROFILE}" uses the active one.`).default(ACTIVE_PROFILE),
    role: z
      .enum(["manager", "worker"])
      .describe(
        `A manager talks to people and delegates; a worker does one task. Default: manager for main and chief-of-staff, else worker.`,
      )
      .exactOptional(),
    tools: texts("Tools it has; * matches any characters.").default(["*"]),
    workspace: text("Workspace folder, relative to the home.").exactOptional(),
    skills: texts("Names of its skills; * matches any characters.").default(["*"]),
    pluginDirs: texts("Plugin folders, relative to the home.").default([]),
    foreign: texts(
      "Folders with documents from others, relative to its workspace; their text is untrusted.",
    ).default(["inbox", "downloads"]),
    queueMode: queueMode("Queue mode while the agent is busy; overrides broker.queue.").exactOptional(),
    limits: limits.prefault({}),
    systemPrompt: text("Replaces the system prompt except the notes on tools and skills.").exactOptional(),
    memory: z
      .boolean()
      .describe("Whether related memories from the ledger are added to its context.")
      .exactOptional(),
  })
  .describe("An agent that runs turns.");

const permissions = z
  .strictObject({
    tools: z
      .strictObject({
        allow: texts("Allowed tools; * matches any characters.").default(["*"]),
        deny: texts("Denied tools; overrides `allow`.").default([]),
      })
      .describe("Tool permissions.")
      .prefault({}),
    ask: texts("Tools whose every call needs a person's approval.").default([]),
    roots: texts("Allowed folders besides its workspace, relative to the home.").default([]),
    hosts: hosts("Allowed hosts, without scheme and port; * matches any characters.").default(["*"]),
    channels: texts("Channels it may send to; * matches any characters.").default(["*"]),
    credentials: z
      .array(variable("Name of a variable in the environment or config/.env, never its value."))
      .describe("Names of variables passed to its commands.")
      .default([]),
    spendUsdPerDay: usd("Daily cost limit, in USD.").default(20),
  })
  .describe("Permissions.");

/** The same, where nothing is said of what is not narrowed. */
export const narrowedPermissions = z
  .strictObject({
    tools: z
      .strictObject({
        allow: texts("Allowed tools; * matches any characters.").exactOptional(),
        deny: texts("Denied tools; overrides `allow`.").exactOptional(),
      })
      .describe("Tool permissions.")
      .exactOptional(),
    ask: texts("Tools whose every call needs a person's approval.").exactOptional(),
    roots: texts("Subset of the persona's folders.").exactOptional(),
    hosts: hosts("Allowed hosts.").exactOptional(),
    channels: texts("Allowed channels.").exactOptional(),
    credentials: texts("Subset of the persona's variables that commands get.").exactOptional(),
    spendUsdPerDay: usd("Daily cost of the persona at which their messages stop, in USD.").exactOptional(),
  })
  .describe("Upper limit of what their messages may do. Default: everything the agent's persona may do.");

const paired = z
  .strictObject({
    channel: text("Channel, as shown by `cortex events`."),
    sender: text("Sender id on the channel."),
    permissions: narrowedPermissions.exactOptional(),
  })
  .describe("A person who may talk to the agents.");

const toolHook = z
  .strictObject({
    event: z.enum(["before", "after"]).describe("Whether it runs before or after a call."),
    match: text("Tools whose calls it checks; * matches any characters.").default("*"),
    command: text("Shell command; it gets the call as JSON on standard input."),
    timeoutMs: whole(1, "Timeout in ms.").max(MAX_TOOL_HOOK_MS).default(10_000),
    env: env.default([]),
  })
  .describe("A program that checks tool calls.");

const persona = z
  .strictObject({
    identity: z
      .strictObject({
        name: text("Display name. Default: the capitalized id.").exactOptional(),
        soul: text("Identity, as instructions to the model.").exactOptional(),
        emoji: text("Emoji shown beside its name.").exactOptional(),
      })
      .describe("Identity.")
      .prefault({}),
    permissions: permissions.prefault({}),
    mainSession: parsed(
      normalizeSessionKey,
      "Main session. Default: that of the first agent with this persona.",
      ["main", "agent:main:telegram:group:123"],
    ).exactOptional(),
    answers: z
      .enum(["own", "ask"])
      .describe(
        "For turns of people other than the owner, and in shared rooms. own: the agent can only use what may be told to them. ask: it can use everything that its permissions allow; an answer from data that is private to others waits for the owner's approval.",
      )
      .default("own"),
  })
  .describe("Identity and permissions.");

/** What may be wrong between the scheme of a webhook and its secret: where, what, and what to do about it. */
const NO_SECRET = [
  "secretEnv",
  "missing",
  'Name the variable that holds the secret. To accept unsigned requests, use the scheme "unsigned".',
] as const;
const NO_SCHEME = [
  "scheme",
  "missing",
  "Add the signature scheme, or move the secret to deliverTo.",
] as const;
const USELESS_SECRET = [
  "secretEnv",
  'unused because the scheme is "unsigned"',
  "Choose a signature scheme, or remove the secret to accept requests from anyone.",
] as const;

const webhook = z
  .strictObject({
    scheme: z
      .enum(["github", "stripe", "slack", "generic", "unsigned"])
      .describe("Signature scheme of requests to /webhooks/<name>. Without it, requests are rejected.")
      .exactOptional(),
    secretEnv: variable("Variable that holds the signing secret.").exactOptional(),
    deliverTo: z
      .strictObject({
        url: z.url({ protocol: /^https?$/ }).describe("URL that answers are posted to."),
        secretEnv: variable("Variable that holds the signing secret.").exactOptional(),
      })
      .describe("Target of answers to this webhook.")
      .exactOptional(),
  })
  .superRefine(({ scheme, secretEnv }, context) => {
    const isSigned = scheme !== undefined && scheme !== "unsigned";
    if (isSigned === (secretEnv !== undefined)) return;
    const [key, message, hint] = isSigned ? NO_SECRET : scheme === undefined ? NO_SCHEME : USELESS_SECRET;
    context.addIssue({ code: "custom", path: [key], message, params: { hint } });
  })
  .describe("A program that sends or receives messages over HTTP.");

const watchedFolder = z
  .strictObject({
    folder: text("Folder, relative to the home."),
    include: texts("Globs of the files to watch, relative to the folder.").default(["**"]),
    exclude: texts("Globs of files to ignore.").default([
      "**/*~",
      "**/*.tmp",
      "**/*.part",
      "**/*.crdownload",
    ]),
    settleMs: whole(0, "How long a file must be unchanged to count as complete, in ms.")
      .max(MAX_SETTLE_MS)
      .default(1_000),
    maxBytes: whole(0, "Larger files are reported without their content.")
      .max(MAX_FILE_TEXT_BYTES)
      .default(262_144),
    existing: z
      .enum(["report", "ignore"])
      .describe("What to do with files that already exist when watching starts.")
      .default("report"),
  })
  .describe("A folder whose files become events.");

const debounceMs = whole(0, "How long to wait after the last message before collecting, in ms.").max(
  MAX_DEBOUNCE_MS,
);
const cap = whole(1, "Maximum number of queued messages of one person per session.").max(MAX_QUEUE_CAP);
const drop = z
  .enum(DROP_POLICIES)
  .describe(
    "Above the cap: summarize the oldest messages to one line each, or drop the oldest or the newest.",
  );
const onInterrupt = z
  .enum(INTERRUPT_POLICIES)
  .describe("Whether an interrupting message takes older ones along or drops them.");

const queueOfChannel = z
  .strictObject({
    mode: queueMode("Queue mode of its messages while the session is busy.").exactOptional(),
    debounceMs: debounceMs.exactOptional(),
    cap: cap.exactOptional(),
    drop: drop.exactOptional(),
    onInterrupt: onInterrupt.exactOptional(),
  })
  .describe("Overrides for one channel.");

const queue = z
  .strictObject({
    mode: queueMode("Queue mode of a person's message while the session is busy.").prefault(
      DEFAULT_MODE_OF_PEOPLE,
    ),
    agentMode: queueMode("Queue mode of messages from agents, timers and webhooks.").prefault(
      DEFAULT_MODE_OF_AGENTS,
    ),
    debounceMs: debounceMs.default(1_000),
    cap: cap.default(20),
    drop: drop.default("summarize"),
    onInterrupt: onInterrupt.default("drain"),
    byChannel: named(queueOfChannel, "Overrides by channel name.").default({}),
  })
  .describe("How messages for a busy session are queued.");

const broker = z
  .strictObject({
    maxConcurrentRuns: whole(1, "Maximum number of concurrent turns.").default(8),
    maxAttempts: whole(1, "Attempts before a turn becomes a dead letter.").default(3),
    retryMs: whole(0, "Delay before the first retry of a turn, in ms; it doubles each time.").default(1_000),
    maxInterruptions: whole(1, "Number of crashes without progress that count as a failed attempt.").default(
      20,
    ),
    maxProcesses: whole(1, "Maximum number of concurrent sub-agent processes.").default(4),
    maxDepth: whole(0, "Maximum nesting depth of workers; 0 disables workers.").max(MAX_DEPTH).default(3),
    maxChain: whole(1, "Maximum length of a chain of internal events without an external event.")
      .max(MAX_CHAIN)
      .default(8),
    maxReturns: whole(1, "Maximum number of worker results in one chain without an external event.")
      .max(MAX_RETURNS)
      .default(256),
    leaseMs: whole(1_000, "How long an unresponsive process keeps its sessions, in ms.").default(30_000),
    shutdownMs: whole(0, "Grace period for runs at shutdown, in ms.").default(10_000),
    queue: queue.prefault({}),
  })
  .describe("How turns are queued and run.");

const subAgentType = z
  .strictObject({
    label: text("Display name. Default: its name.").exactOptional(),
    description: text("Description that agents use to choose a type."),
    tools: texts("Subset of the caller's tools. Default: all of them.").exactOptional(),
    maxTurns: whole(1, "Maximum number of model calls. Default: 10.").exactOptional(),
    timeoutMs: whole(1, "Timeout in ms. Default: ten minutes.").max(MAX_SUB_AGENT_MS).exactOptional(),
    systemPrompt: text("Replaces the system prompt of its agent.").exactOptional(),
    profile: text("Model profile. Default: its agent's.").exactOptional(),
    command: z
      .array(z.string().min(1))
      .min(1, { error: "empty" })
      .describe("Command and arguments of a program that speaks the sub-agent protocol.")
      .exactOptional(),
    env: env.exactOptional(),
  })
  .refine(({ command, env: named }) => named === undefined || command !== undefined, {
    path: ["env"],
    error: "only allowed for a type with a command; Cortex's own processes get what they need",
  })
  .describe("A type of sub-agent. Omitted fields of a built-in type keep their values.");

const subAgents = z
  .strictObject({
    types: named(subAgentType, "Sub-agent types by name, in addition to the built-in ones.").default({}),
    warm: whole(0, "Number of warm processes.").default(2),
    warmMs: whole(0, "How long an idle process is kept, in ms.").default(300_000),
    silenceMs: whole(1, "How long a process may be silent before it is killed, in ms.").default(120_000),
  })
  .describe("Workers that run as processes.");

/** Chat platforms that this version does not speak to. */
const PLATFORMS = ["slack", "whatsapp", "signal", "imessage", "email", "matrix"] as const;

const admin = z
  .strictObject({
    channel: z
      .enum(["webhook", ...CHAT_CHANNELS, "http", "cli"])
      .describe("Channel; http and cli only record reports in the ledger.")
      .register(planned, { names: [...PLATFORMS, "web"] }),
    account: text("Account on the channel, if it has several.").default(DEFAULT_ACCOUNT),
    place: text("Id of the chat on the channel, or name of the webhook."),
  })
  .describe("Where Cortex sends reports to its owner.");

export const cortexSchema = z
  .strictObject({
    $schema: z.string().describe("JSON schema of this file, for editors.").exactOptional(),
    agents: named(agentEntrySchema, "Agents by id. `main` always exists.").default({}),
    personas: named(persona, "Personas by id. `atlas` always exists.").default({}),
    broker: broker.prefault({}),
    subAgents: subAgents.prefault({}),
    hooks: z
      .strictObject({
        profile: text("Model profile that hooks use.").default(ACTIVE_PROFILE),
        llmUsdPerDay: usd("Daily cost limit for models used by hooks, in USD.").default(1),
        env: env.describe("Names of variables that hooks can read.").default([]),
        gatherMs: whole(0, "How long a turn waits for pending hooks, in ms.").max(MAX_GATHER_MS).default(200),
      })
      .describe("Limits and settings of hooks.")
      .prefault({}),
    usage: z
      .strictObject({
        callsPerDay: whole(0, "Maximum number of model calls per day by all agents and hooks.").default(
          50_000,
        ),
        tokensPerDay: whole(
          0,
          "Maximum number of tokens per day, input and output, excluding cached ones.",
        ).default(200_000_000),
        personaCallsPerDay: whole(
          0,
          "Maximum number of model calls per day by one persona's agents.",
        ).default(20_000),
        personaTokensPerDay: whole(0, "Maximum number of tokens per day for one persona.").default(
          100_000_000,
        ),
      })
      .describe("Daily limits on model use, regardless of cost. The offline model is not counted.")
      .prefault({}),
    relay: z
      .strictObject({
        onRestart: z
          .enum(["fail", "resume"])
          .describe("What to do with a relay that a crash interrupted.")
          .default("fail"),
        usdPerDay: usd("Daily cost limit of all relays, in USD. Default: no limit.").exactOptional(),
      })
      .describe("Agents that pass one artifact along.")
      .prefault({}),
    people: z
      .strictObject({
        limits: z
          .strictObject({
            pending: whole(0, "How many messages of one person may wait, over all sessions.").default(20),
            perMinute: whole(0, "How many messages of one person are taken in a minute.").default(20),
            usdPerDay: usd("Daily cost limit of what one person causes, in USD.").default(2),
          })
          .describe("Limits of each person except you. A person's own limits come first.")
          .prefault({}),
        share: z
          .number()
          .min(0)
          .max(1)
          .describe(
            "Fraction of each daily limit of a persona, of hooks and of `usage` that everybody except you may use together, from 0 to 1.",
          )
          .default(0.5),
        openApprovals: whole(
          0,
          "How many approvals and questions may be open for the work of one person.",
        ).default(20),
        attachmentsMbPerDay: whole(
          0,
          "How many MB of one person's attachments are kept per day; of further files, only name, size and hash.",
        )
          .max(MAX_MB)
          .default(100),
        guests: z
          .strictObject({
            eventsPerDay: whole(
              0,
              "Events of one guest that are stored per day; others are only counted.",
            ).default(100),
            allEventsPerDay: whole(0, "The same for all guests together.").default(2_000),
            characters: whole(0, "How much of the text of a guest's event is stored, in characters.").default(
              4_000,
            ),
          })
          .describe("Storage for events of guests.")
          .prefault({}),
      })
      .describe("What people other than you may use.")
      .prefault({}),
    quota: z
      .strictObject({
        workspaceMb: whole(1, "Maximum size of an agent's workspace, in MB.").max(MAX_MB).default(4_096),
        homeMb: whole(1, "Maximum size of the home without workspaces, in MB.").max(MAX_MB).default(8_192),
        warnAt: z
          .number()
          .min(0)
          .max(1)
          .describe("Fraction of a limit from which Cortex warns, from 0 to 1.")
          .default(0.8),
      })
      .describe("Disk space. At a limit, agents write no files and run no commands.")
      .prefault({}),
    sandbox: z
      .enum(["auto", "require", "off"])
      .describe("Sandbox for commands: auto (if available), require (or refuse to run), or off.")
      .default("auto"),
    store: z
      .enum(["sqlite"])
      .describe("Storage of the ledger.")
      .register(planned, { names: ["postgres"] })
      .default("sqlite"),
    timezone: z
      .string()
      .refine(isTimezone, { error: ({ input }) => `unknown time zone ${quote(input)}` })
      .describe("Time zone for timers and for times shown to agents, such as Europe/Berlin.")
      .exactOptional(),
    admin: admin.exactOptional(),
    server: z
      .strictObject({
        host: text("Address the server listens on.").default("127.0.0.1"),
        port: z.int().min(0).max(65_535).describe("Port; 0 picks a free one.").default(4747),
      })
      .describe("HTTP server.")
      .prefault({}),
    channels: z
      .looseObject({
        webhooks: named(webhook, "Webhooks, by name.").default({}),
        files: named(watchedFolder, "Watched folders, by name.").default({}),
        ...chatChannels,
        paired: z
          .array(paired)
          .max(MAX_PAIRED)
          .describe("People of an older version, taken over once; see `cortex people`.")
          .default([]),
      })
      .check(
        checkPlugins({
          known: [...CHAT_CHANNELS, "webhooks", "files", "paired"],
          later: [...PLATFORMS, "web"],
        }),
      )
      .describe("Channels by name. An entry with `use` is a plugin.")
      .register(planned, { names: [...PLATFORMS, "web"] })
      .prefault({}),
    webSearch: z
      .strictObject({
        url: z
          .url({
            protocol: /^https?$/,
            error: ({ input }) => `invalid http or https URL ${quote(input)}`,
            abort: true,
          })
          .refine((url) => url.includes("{query}"), {
            error: ({ input }) => `${quote(input)} does not contain {query}`,
          })
          .describe("Search URL; {query} is replaced by the query."),
        apiKeyEnv: variable("Variable that holds the API key, never the key itself.").exactOptional(),
        apiKeyHeader: z
          .string()
          .regex(/^[\w-]+$/, { error: ({ input }) => `invalid header name ${quote(input)}` })
          .describe("Header that carries the key. Default: a bearer token in Authorization.")
          .exactOptional(),
      })
      .describe("Backend of the WebSearch tool. Without it, agents have no WebSearch.")
      .exactOptional(),
    toolHooks: z
      .array(toolHook)
      .max(MAX_TOOL_HOOKS)
      .describe("Programs that check tool calls and may deny or change them, run in this order.")
      .default([]),
    memory: z
      .strictObject({
        tokens: whole(0, "Maximum number of tokens of memories in a context; 0 turns it off.").default(1_000),
        threshold: z
          .number()
          .min(0)
          .max(1)
          .describe("Minimum relevance of a memory, from 0 to 1.")
          .default(0.3),
      })
      .describe("Memories: turns and events of the ledger that relate to a message.")
      .prefault({}),
    dmScope: z
      .enum(["main", "per-peer", "per-channel-peer"])
      .describe(
        "Session of direct messages: one per person, or one per person and channel. main: yours are in the main session.",
      )
      .default("main"),
    identityLinks: named(
      z.array(
        z.string().regex(/^[^:\s]+:\S+$/, {
          error: ({ input }) => `expected channel:peer, got ${quote(input)}`,
        }),
      ),
      "Peers of an older version that are the same person, taken over with channels.paired.",
    ).default({}),
  })
  .describe("Cortex configuration.")
  .register(planned, { names: ["mcpServers"] });

export type CortexFile = z.output<typeof cortexSchema>;

function isTimezone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone !== "";
  } catch {
    return false; // Intl has no other way to ask.
  }
}

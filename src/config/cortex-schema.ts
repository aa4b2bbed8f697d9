/**
 * What `config/cortex.json` may hold. The descriptions are the help that editors show, through the JSON
 * Schema, and the hints of whatever is wrong with the file.
 *
 * What depends on another part of the configuration (a name that must exist, a default made from an id)
 * is not here: see references.ts and config.ts.
 */
import { z } from "zod";
import { CortexError } from "../model/errors.ts";
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
import { planned } from "./planned.ts";
import { quote } from "./problem.ts";

/** How many agents, personas or profiles there may be, each. */
export const MAX_ENTRIES = 1_000;

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
/** How many people may be paired. */
export const MAX_PAIRED = 10_000;

const text = (description: string) => z.string().min(1).describe(description);
const texts = (description: string) => z.array(z.string().min(1)).describe(description);
const whole = (min: number, description: string) => z.int().min(min).describe(description);
const usd = (description: string) => z.number().min(0).describe(description);
const variable = (description: string) =>
  z
    .string()
    .regex(/^[A-Za-z_]\w*$/, { error: ({ input }) => `${quote(input)} is not the name of a variable` })
    .describe(description);
/** Beside a command: programs inherit nothing that is not on the list of every program, or named here. */
export const env = z
  .array(variable("The name of a variable of the environment or of config/.env, never its value."))
  .describe("The variables that it is given beside the few that every program has, by name.");
const hosts = (description: string) =>
  z
    .array(
      z
        .string()
        .regex(HOST_PATTERN, {
          error: ({ input }) => `${quote(input)} is not a host: a host has no scheme, port or path`,
        })
        .toLowerCase(),
    )
    .describe(description);

/** A name or an address with stars, or an IPv6 address in brackets. Names of other alphabets are written as `xn--`. */
const HOST_PATTERN = /^(?:[A-Za-z0-9*_-]+(?:\.[A-Za-z0-9*_-]+)*|\[[0-9A-Fa-f:.*]+\])$/;

/** A text that another part of Cortex knows how to read; its CortexError becomes the problem. */
const parsed = <T>(parse: (text: string) => T, description: string, examples: readonly string[]) =>
  z
    .string()
    .transform((value, context): T => {
      try {
        return parse(value);
      } catch (error) {
        if (!(error instanceof CortexError)) throw error;
        context.addIssue({ code: "custom", message: error.message, params: { hint: error.hint } });
        return z.NEVER;
      }
    })
    .meta({ description, examples });

const queueMode = (description: string) => parsed(parseQueueMode, description, QUEUE_MODES);

/** Entries by name. */
export function named<Entry extends z.ZodType>(entry: Entry, description: string) {
  return z
    .record(z.string(), entry)
    .refine((entries) => Object.keys(entries).length <= MAX_ENTRIES, {
      error: `has more than ${MAX_ENTRIES} entries`,
    })
    .describe(description);
}

const limits = z
  .strictObject({
    modelCalls: whole(1, "How often one turn may call the model.").default(50),
    costUsd: usd("What one turn may cost, in USD.").default(5),
    wallClockMs: whole(
      1_000,
      "How long a turn may be at work, over all its attempts, in milliseconds.",
    ).default(3_600_000),
    repeatedCalls: whole(1, "How often one turn may repeat the same tool call.").default(5),
    silenceMs: whole(1, "How long a model may make no progress before it is asked anew.").default(600_000),
  })
  .describe("What one turn of the agent may use before it is ended.");

export const agentSchema = z
  .strictObject({
    persona: text("The persona whose identity and permissions it has.").default("atlas"),
    profile: text(`The profile it runs on; "${ACTIVE_PROFILE}" is whatever is active.`).default(
      ACTIVE_PROFILE,
    ),
    role: z
      .enum(["manager", "worker"])
      .describe(
        `A manager talks to people and delegates, a worker does one task. "manager" for main and chief-of-staff.`,
      )
      .exactOptional(),
    tools: texts("The tools it has; * stands for any characters.").default(["*"]),
    workspace: text("Its folder, from the home where it is relative.").exactOptional(),
    skills: texts("The skills it knows, by name; * stands for any characters.").default(["*"]),
    pluginDirs: texts("Folders of plugins, from the home where they are relative.").default([]),
    queueMode: queueMode(
      "What a message does while the agent is busy, instead of broker.queue.",
    ).exactOptional(),
    limits: limits.prefault({}),
    systemPrompt: text("Replaces the system prompt, all but notes on tools and skills.").exactOptional(),
    memory: z
      .boolean()
      .describe("Whether it is reminded of what the ledger holds on a message.")
      .exactOptional(),
  })
  .describe("Whoever runs turns.");

const permissions = z
  .strictObject({
    tools: z
      .strictObject({
        allow: texts("Tools it may use; * stands for any characters.").default(["*"]),
        deny: texts("Tools it may not use, whatever is allowed.").default([]),
      })
      .describe("Which tools it may use.")
      .prefault({}),
    ask: texts("Tools of which every call needs a person's yes.").default([]),
    roots: texts("Folders it may use beside its workspace, from the home where they are relative.").default(
      [],
    ),
    hosts: hosts("Hosts it may reach, without scheme and port; * stands for any characters.").default(["*"]),
    channels: texts("Channels it may send to; * stands for any characters.").default(["*"]),
    credentials: z
      .array(variable("The name of a variable of the environment or of config/.env, never its value."))
      .describe("The variables that its commands are given, by name.")
      .default([]),
    spendUsdPerDay: usd("What it may spend in a day, in USD.").default(20),
  })
  .describe("What it may do.");

/** The same, where nothing is said of what is not narrowed. */
const narrowedPermissions = z
  .strictObject({
    tools: z
      .strictObject({
        allow: texts("Tools that may be used; * stands for any characters.").exactOptional(),
        deny: texts("Tools that may not be used, whatever is allowed.").exactOptional(),
      })
      .describe("Which tools may be used.")
      .exactOptional(),
    ask: texts("Tools of which every call needs a person's yes.").exactOptional(),
    roots: texts("Of the persona's folders, those that may be used.").exactOptional(),
    hosts: hosts("Hosts that may be reached.").exactOptional(),
    channels: texts("Channels that may be sent to.").exactOptional(),
    credentials: texts("Of the persona's variables, those that commands are given.").exactOptional(),
    spendUsdPerDay: usd("What the persona may have spent in a day, in USD.").exactOptional(),
  })
  .describe("What their messages may do at most. All that the agent's persona may, unless given.");

const paired = z
  .strictObject({
    channel: text("The channel, as `cortex events` shows it."),
    sender: text("The sender's id on it."),
    permissions: narrowedPermissions.exactOptional(),
  })
  .describe("Somebody who may talk to the agents.");

const toolHook = z
  .strictObject({
    event: z.enum(["before", "after"]).describe("Whether it is run before or after a call."),
    match: text("The tools whose calls it sees; * stands for any characters.").default("*"),
    command: text("What is run: a line for the shell, which is given the call as JSON on standard input."),
    timeoutMs: whole(1, "How long it may take, in milliseconds.").max(MAX_TOOL_HOOK_MS).default(10_000),
    env: env.default([]),
  })
  .describe("A program that looks at tool calls.");

const persona = z
  .strictObject({
    identity: z
      .strictObject({
        name: text("What it is called. Its id with a capital letter, unless given.").exactOptional(),
        soul: text("Who it is, in its own words.").exactOptional(),
        emoji: text("A sign beside its name.").exactOptional(),
      })
      .describe("Who it is.")
      .prefault({}),
    permissions: permissions.prefault({}),
    mainSession: parsed(
      normalizeSessionKey,
      "Its main session. That of the first agent with this persona, unless given.",
      ["main", "agent:main:telegram:group:123"],
    ).exactOptional(),
  })
  .describe("Identity and permissions.");

/** What may be wrong between the scheme of a webhook and its secret: where, what, and what to do about it. */
const NO_SECRET = [
  "secretEnv",
  "is missing",
  'Name the variable with the secret. To take what anybody sends, the scheme is "unsigned".',
] as const;
const NO_SCHEME = [
  "scheme",
  "is missing",
  "Say by which scheme the secret is used, or move it to deliverTo.",
] as const;
const USELESS_SECRET = [
  "secretEnv",
  "is of no use to what is unsigned",
  "Name a scheme, or leave the secret out: anybody can send then.",
] as const;

const webhook = z
  .strictObject({
    scheme: z
      .enum(["github", "stripe", "slack", "generic", "unsigned"])
      .describe("How requests to /webhooks/<name> are signed. Without it, none are taken.")
      .exactOptional(),
    secretEnv: variable("The variable that holds the secret with which they are signed.").exactOptional(),
    deliverTo: z
      .strictObject({
        url: z.url({ protocol: /^https?$/ }).describe("Where answers are posted."),
        secretEnv: variable("The variable that holds the secret with which they are signed.").exactOptional(),
      })
      .describe("Where answers with this webhook as their place are sent.")
      .exactOptional(),
  })
  .superRefine(({ scheme, secretEnv }, context) => {
    const isSigned = scheme !== undefined && scheme !== "unsigned";
    if (isSigned === (secretEnv !== undefined)) return;
    const [key, message, hint] = isSigned ? NO_SECRET : scheme === undefined ? NO_SCHEME : USELESS_SECRET;
    context.addIssue({ code: "custom", path: [key], message, params: { hint } });
  })
  .describe("A program that sends or takes messages by HTTP.");

const watchedFolder = z
  .strictObject({
    folder: text("The folder, from the home where it is relative."),
    include: texts("The files that are watched, as globs from the folder.").default(["**"]),
    exclude: texts("Of these, the files that are not.").default([
      "**/*~",
      "**/*.tmp",
      "**/*.part",
      "**/*.crdownload",
    ]),
    settleMs: whole(0, "A file that has not changed for so long is complete, in milliseconds.")
      .max(MAX_SETTLE_MS)
      .default(1_000),
    maxBytes: whole(0, "Larger files come without their content.").max(MAX_FILE_TEXT_BYTES).default(262_144),
    existing: z
      .enum(["report", "ignore"])
      .describe("What becomes of files that were there before the folder was watched.")
      .default("report"),
  })
  .describe("A folder whose files become events.");

const debounceMs = whole(0, "How long it must be quiet before messages are collected.").max(MAX_DEBOUNCE_MS);
const cap = whole(1, "How many messages may wait in one session.").max(MAX_QUEUE_CAP);
const drop = z
  .enum(DROP_POLICIES)
  .describe("What happens above the cap: one line each of the oldest is kept, or the oldest or newest goes.");
const onInterrupt = z
  .enum(INTERRUPT_POLICIES)
  .describe("What becomes of older messages when one interrupts: they join it, or are dropped.");

const queueOfChannel = z
  .strictObject({
    mode: queueMode("What a message from there does while the session is busy.").exactOptional(),
    debounceMs: debounceMs.exactOptional(),
    cap: cap.exactOptional(),
    drop: drop.exactOptional(),
    onInterrupt: onInterrupt.exactOptional(),
  })
  .describe("What is different for messages of one channel.");

const queue = z
  .strictObject({
    mode: queueMode("What a person's message does while the session is busy.").prefault(
      DEFAULT_MODE_OF_PEOPLE,
    ),
    agentMode: queueMode("The same for messages of agents, timers and webhooks.").prefault(
      DEFAULT_MODE_OF_AGENTS,
    ),
    debounceMs: debounceMs.default(1_000),
    cap: cap.default(20),
    drop: drop.default("summarize"),
    onInterrupt: onInterrupt.default("drain"),
    byChannel: named(queueOfChannel, "What is different for a channel, by its name.").default({}),
  })
  .describe("Messages that meet a busy session.");

const broker = z
  .strictObject({
    maxConcurrentRuns: whole(1, "How many turns run at the same time.").default(8),
    maxAttempts: whole(1, "How often a turn is tried before it is put aside.").default(3),
    retryMs: whole(0, "How long to wait before a turn is tried again; twice as long each time.").default(
      1_000,
    ),
    maxInterruptions: whole(1, "How many crashes without progress count as a failed attempt.").default(20),
    maxProcesses: whole(1, "How many sub-agents run as processes at the same time.").default(4),
    maxDepth: whole(0, "How deep workers may open workers of their own; 0 lets nobody open one.")
      .max(MAX_DEPTH)
      .default(3),
    maxChain: whole(1, "How many events may lead to each other before a person or a source has to write.")
      .max(MAX_CHAIN)
      .default(8),
    maxReturns: whole(
      1,
      "How many results may come back in one chain before a person or a source has to write.",
    )
      .max(MAX_RETURNS)
      .default(256),
    leaseMs: whole(1_000, "How long a process that does not answer keeps its sessions.").default(30_000),
    shutdownMs: whole(0, "How long runs have to end when Cortex stops.").default(10_000),
    queue: queue.prefault({}),
  })
  .describe("How turns are queued and run.");

const subAgentType = z
  .strictObject({
    label: text("What it is called. Its name, unless given.").exactOptional(),
    description: text("What it is for: agents choose by it."),
    tools: texts(
      "The tools it has, of those of whoever calls it. All of them, unless given.",
    ).exactOptional(),
    maxTurns: whole(1, "How often it may call the model. 10, unless given.").exactOptional(),
    timeoutMs: whole(1, "How long it may take, in milliseconds. Ten minutes, unless given.")
      .max(MAX_SUB_AGENT_MS)
      .exactOptional(),
    systemPrompt: text("Replaces the system prompt of its agent.").exactOptional(),
    profile: text("The profile it runs on. That of its agent, unless given.").exactOptional(),
    command: z
      .array(z.string().min(1))
      .min(1, { error: "is empty" })
      .describe("A program that speaks the protocol of sub-agents, and its arguments.")
      .exactOptional(),
    env: env.exactOptional(),
  })
  .refine(({ command, env: named }) => named === undefined || command !== undefined, {
    path: ["env"],
    error: "is for a type with a command: processes of Cortex itself are given what they need",
  })
  .describe("A type of sub-agent. What is not said of one that comes with Cortex stays as it is.");

const subAgents = z
  .strictObject({
    types: named(subAgentType, "Types of sub-agents by name, beside those that come with Cortex.").default(
      {},
    ),
    warm: whole(0, "How many processes are kept ready.").default(2),
    warmMs: whole(0, "How long one is kept that nobody needs, in milliseconds.").default(300_000),
    silenceMs: whole(1, "How long one may say nothing before it is given up, in milliseconds.").default(
      120_000,
    ),
  })
  .describe("Workers that run as processes.");

/** Chat platforms that this version does not speak to. */
const PLATFORMS = [
  "telegram",
  "discord",
  "slack",
  "whatsapp",
  "signal",
  "imessage",
  "email",
  "matrix",
] as const;

const admin = z
  .strictObject({
    channel: z
      .enum(["webhook", "http", "cli"])
      .describe("The channel: webhook, or http or cli to read it in the ledger.")
      .register(planned, { names: [...PLATFORMS, "web"] }),
    account: text("The account on it, where there are several.").default(DEFAULT_ACCOUNT),
    place: text("The webhook, by its name."),
  })
  .describe("Where Cortex reports what its owner should know.");

export const cortexSchema = z
  .strictObject({
    $schema: z.string().describe("Where editors find the description of this file.").exactOptional(),
    agents: named(agentSchema, "Agents by id. There is always one called main.").default({}),
    personas: named(persona, "Personas by id. There is always one called atlas.").default({}),
    broker: broker.prefault({}),
    subAgents: subAgents.prefault({}),
    hooks: z
      .strictObject({
        profile: text("The profile that hooks ask.").default(ACTIVE_PROFILE),
        llmUsdPerDay: usd("What hooks may spend on models in a day, in USD.").default(1),
        env: env.describe("The variables that hooks see, by name.").default([]),
        gatherMs: whole(0, "How long a turn waits for hooks that have not answered yet, in milliseconds.")
          .max(MAX_GATHER_MS)
          .default(200),
      })
      .describe("What hooks may use.")
      .prefault({}),
    usage: z
      .strictObject({
        callsPerDay: whole(0, "How often all agents and hooks may ask models in a day.").default(50_000),
        tokensPerDay: whole(
          0,
          "How many tokens that may take, in and out, without those from a cache.",
        ).default(200_000_000),
        personaCallsPerDay: whole(0, "How often the agents of one persona may ask models in a day.").default(
          20_000,
        ),
        personaTokensPerDay: whole(0, "How many tokens that may take.").default(100_000_000),
      })
      .describe("What models may be asked in a day, whatever it costs. The offline model is not counted.")
      .prefault({}),
    relay: z
      .strictObject({
        onRestart: z
          .enum(["fail", "resume"])
          .describe("What becomes of a relay that a crash has interrupted.")
          .default("fail"),
        usdPerDay: usd(
          "What all relays may spend in a day, in USD. As much as they like, unless given.",
        ).exactOptional(),
      })
      .describe("Agents that pass one artifact along.")
      .prefault({}),
    sandbox: z
      .enum(["auto", "require", "off"])
      .describe("Commands run in a sandbox: where there is one, always (or not at all), or never.")
      .default("auto"),
    store: z
      .enum(["sqlite"])
      .describe("Where the ledger is kept.")
      .register(planned, { names: ["postgres"] })
      .default("sqlite"),
    timezone: z
      .string()
      .refine(isTimezone, { error: ({ input }) => `${quote(input)} is not a time zone` })
      .describe("The time zone of timers and of what agents read, such as Europe/Berlin.")
      .exactOptional(),
    admin: admin.exactOptional(),
    server: z
      .strictObject({
        host: text("The address that the server listens on.").default("127.0.0.1"),
        port: z.int().min(0).max(65_535).describe("Its port; 0 takes any that is free.").default(4747),
      })
      .describe("Where HTTP is served.")
      .prefault({}),
    channels: z
      .strictObject({
        webhooks: named(webhook, "Webhooks, by name.").default({}),
        files: named(watchedFolder, "Watched folders, by name.").default({}),
        paired: z
          .array(paired)
          .max(MAX_PAIRED)
          .describe("Who may talk to the agents, beside the owner. Messages of all others are not answered.")
          .default([]),
      })
      .describe("Ways in and out, by name.")
      .register(planned, { names: [...PLATFORMS, "web"] })
      .prefault({}),
    webSearch: z
      .strictObject({
        url: z
          .url({
            protocol: /^https?$/,
            error: ({ input }) => `${quote(input)} is not an http or https address`,
            abort: true,
          })
          .refine((url) => url.includes("{query}"), {
            error: ({ input }) => `${quote(input)} has no {query}`,
          })
          .describe("Where searches are sent; {query} stands for what is looked for."),
        apiKeyEnv: variable("The variable that holds the key, never the key itself.").exactOptional(),
        apiKeyHeader: z
          .string()
          .regex(/^[\w-]+$/, { error: ({ input }) => `${quote(input)} is not the name of a header` })
          .describe("The header that the key is sent in. As a bearer token in Authorization, unless given.")
          .exactOptional(),
      })
      .describe("Where the tool WebSearch looks. Without it, there is none.")
      .exactOptional(),
    toolHooks: z
      .array(toolHook)
      .max(MAX_TOOL_HOOKS)
      .describe("Programs that look at tool calls and may refuse or change them, in this order.")
      .default([]),
    memory: z
      .strictObject({
        tokens: whole(0, "How much of a context it may take, in tokens; 0 turns it off.").default(1_000),
        threshold: z
          .number()
          .min(0)
          .max(1)
          .describe("How well something must fit to be brought up, from 0 to 1.")
          .default(0.3),
      })
      .describe("What agents are reminded of: turns and events of the ledger that fit a message.")
      .prefault({}),
    dmScope: z
      .enum(["main", "per-peer", "per-channel-peer"])
      .describe("Direct messages go to the main session, one a person, or one a person and channel.")
      .default("main"),
    identityLinks: named(
      z.array(
        z.string().regex(/^[^:\s]+:\S+$/, {
          error: ({ input }) => `${quote(input)} is not of the form channel:peer`,
        }),
      ),
      "Several peers that are one person: a name for the person, and channel:peer of each.",
    ).default({}),
  })
  .describe("The configuration of Cortex.")
  .register(planned, { names: ["mcpServers"] });

export type CortexFile = z.output<typeof cortexSchema>;

function isTimezone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone !== "";
  } catch {
    return false; // Intl has no other way to ask.
  }
}

/**
 * Checks what a hook returned and brings it into one form.
 *
 * Routing can be written in several ways, in snake and in camel case; all are read here. Anything else is an error of the
 * hook: a routing with a misspelt field would otherwise go to the main session.
 */
import { CortexError } from "../../model/errors.ts";
import type { Json } from "../../model/json.ts";
import { parseQueueMode, type QueueMode } from "../../model/queue-mode.ts";
import { normalizeSessionKey, type SessionKey } from "../../model/session-key.ts";
import { truncate } from "../../model/truncate.ts";

export type HookVerdict =
  | { readonly fire: false; readonly disable: boolean }
  | {
      readonly fire: true;
      readonly disable: boolean;
      /** It silences the default hooks. */
      readonly exclusive: boolean;
      readonly destination: HookDestination;
      readonly smart: boolean;
      readonly queueMode?: QueueMode;
      readonly context: TurnContext;
      readonly delivery?: Json;
    };

export type HookDestination =
  | { readonly kind: "default" }
  | { readonly kind: "thread"; readonly thread: string }
  | { readonly kind: "session"; readonly session: SessionKey }
  | { readonly kind: "persona"; readonly persona: string }
  /** An agent of this name, else a persona. */
  | { readonly kind: "agent"; readonly agent: string }
  | { readonly kind: "relay"; readonly relay: string };

/** Stored with the dispatch, for the turn. A type, not an interface: it is stored as JSON. */
type TurnContext = {
  readonly prompt?: string;
  readonly extracted?: Json;
  readonly includeHistory?: boolean;
};

const FIELDS = ["fire", "routing", "context", "delivery", "disable_hook", "exclusive"];

/** Throws `hook_failed`, or what is wrong with the target. */
export function normaliseResult(result: unknown): HookVerdict {
  const fields = readObject(result, "result", FIELDS);
  if (typeof fields["fire"] !== "boolean") throw invalid("expected true or false as `fire`", fields["fire"]);
  const disable = readFlag(fields, "disable_hook") ?? false;
  const exclusive = readFlag(fields, "exclusive") ?? false;
  if (!fields["fire"]) return { fire: false, disable };
  const delivery = readDelivery(fields["delivery"]);
  return {
    fire: true,
    disable,
    exclusive,
    ...readRouting(fields["routing"]),
    context: readContext(fields["context"]),
    ...(delivery === undefined ? {} : { delivery }),
  };
}

const TARGETS = ["thread", "session", "persona", "agent", "relay"] as const;
type TargetField = (typeof TARGETS)[number];
const MODES = ["thread", "session", "persona"] as const;

function readRouting(
  routing: unknown,
): Pick<Extract<HookVerdict, { fire: true }>, "destination" | "smart" | "queueMode"> {
  if (isAbsent(routing)) return { destination: { kind: "default" }, smart: false };
  const fields = readObject(routing, "routing", [
    ...TARGETS,
    "agent_id",
    "mode",
    "target",
    "smart",
    "queue_mode",
  ]);
  const queueMode = readText(fields, "queue_mode");
  return {
    destination: readDestination(fields, routing),
    smart: readFlag(fields, "smart") ?? false,
    ...(queueMode === undefined ? {} : { queueMode: parseQueueMode(queueMode) }),
  };
}

function readDestination(fields: Fields, routing: unknown): HookDestination {
  const agent = readAgent(fields, routing);
  const mode = readText(fields, "mode");
  if (mode !== undefined) return readMode(mode, agent, fields, routing);
  if (readText(fields, "target") !== undefined)
    throw invalid(`\`target\` requires a \`mode\`: ${MODES.join(", ")}`, routing);
  const named = TARGETS.filter((field) =>
    field === "agent" ? agent !== undefined : !isAbsent(fields[field]),
  );
  if (named.length > 1) throw conflict(named, routing);
  const [field] = named;
  if (field === undefined) return { kind: "default" };
  const value = field === "agent" ? agent : readText(fields, field);
  return value === undefined ? { kind: "default" } : toDestination(field, value);
}

/** `{mode, target}`. With a session, the agent is its owner; alone, the agent is the target. */
function readMode(
  mode: string,
  agent: string | undefined,
  fields: Fields,
  routing: unknown,
): HookDestination {
  const kind = MODES.find((known) => known === mode);
  if (kind === undefined) throw invalid(`expected ${MODES.join(", ")} as \`mode\``, mode);
  const others = TARGETS.filter((field) => field !== "agent" && !isAbsent(fields[field]));
  const own = others.filter((field) => field === kind);
  if (others.length > own.length) throw conflict(["mode", ...others], routing);
  const target = readText(fields, "target");
  if (target !== undefined && own.length > 0) throw conflict(["target", ...own], routing);
  const value = target ?? readText(fields, kind);
  if (value === undefined) {
    if (agent === undefined || kind === "thread")
      throw invalid(`\`mode\` ${kind} requires a \`target\``, routing);
    return toDestination("agent", agent);
  }
  if (agent === undefined) return toDestination(kind, value);
  if (kind !== "session") throw conflict([kind, "agent"], routing);
  return toDestination("session", sessionOf(agent, value, routing));
}

function sessionOf(agent: string, session: string, routing: unknown): string {
  const owner = /^agent:([^:]*):/i.exec(session)?.[1];
  if (owner === undefined) return `agent:${agent}:${session}`;
  if (owner.toLowerCase() !== agent.toLowerCase()) throw conflict(["session", "agent"], routing);
  return session;
}

/** `agent` and `agent_id` are the same. */
function readAgent(fields: Fields, routing: unknown): string | undefined {
  const [agent, agentId] = [readText(fields, "agent"), readText(fields, "agent_id")];
  if (agent !== undefined && agentId !== undefined && agent !== agentId)
    throw conflict(["agent", "agent_id"], routing);
  return agent ?? agentId;
}

function toDestination(field: TargetField, value: string): HookDestination {
  switch (field) {
    case "thread":
      return { kind: "thread", thread: value };
    case "session":
      return { kind: "session", session: normalizeSessionKey(value) };
    case "persona":
      return { kind: "persona", persona: value };
    case "agent":
      return { kind: "agent", agent: value };
    case "relay":
      return { kind: "relay", relay: value };
  }
}

const HISTORY = ["include_history", "include_thread", "include_thread_history"] as const;
const PROMPTS = ["prompt", "system_prompt"] as const;

function readContext(context: unknown): TurnContext {
  if (isAbsent(context)) return {};
  const fields = readObject(context, "context", [...PROMPTS, "extracted", ...HISTORY]);
  const prompt = PROMPTS.map((name) => readString(fields, name)).find((value) => value !== undefined);
  const includeHistory = HISTORY.map((name) => readFlag(fields, name)).find((value) => value !== undefined);
  const { extracted } = fields;
  return {
    ...(prompt === undefined ? {} : { prompt }),
    ...(isAbsent(extracted) ? {} : { extracted: readJson(extracted) }),
    ...(includeHistory === undefined ? {} : { includeHistory }),
  };
}

/** The fields of a delivery, under their current and former names. */
const DELIVERY: Readonly<Record<string, string>> = {
  channel: "channel",
  account: "account",
  account_id: "account",
  place: "place",
  peer_id: "place",
  topic: "topic",
  thread_id: "topic",
  reply_to: "replyTo",
  reply_to_id: "replyTo",
};

function readDelivery(delivery: unknown): Json | undefined {
  if (isAbsent(delivery)) return undefined;
  const fields = readObject(delivery, "delivery", Object.keys(DELIVERY));
  const address: Record<string, Json> = {};
  for (const [name, value] of Object.entries(fields)) {
    if (isAbsent(value)) continue;
    const field = DELIVERY[name];
    const isText = typeof value === "string" || typeof value === "number";
    if (!isText || field === undefined || field in address)
      throw invalid(
        `expected ${[...new Set(Object.values(DELIVERY))].join(", ")} in \`delivery\`, each once`,
        delivery,
      );
    address[field] = String(value);
  }
  return address;
}

type Fields = Readonly<Record<string, unknown>>;

/** The fields of an object with snake-case names. Rejects unknown and duplicate fields. */
function readObject(value: unknown, what: string, known: readonly string[]): Fields {
  if (value === null || typeof value !== "object" || Array.isArray(value))
    throw invalid(
      what === "result" ? "expected {fire: true} or {fire: false}" : `expected an object as \`${what}\``,
      value,
    );
  const fields: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(value)) {
    const snake = name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    if (!known.includes(snake)) throw unknownField(name, what, known);
    if (isAbsent(field)) continue;
    if (Object.hasOwn(fields, snake) && fields[snake] !== field)
      throw invalid(`duplicate field \`${snake}\``, value);
    fields[snake] = field;
  }
  return fields;
}

function readText(fields: Fields, name: string): string | undefined {
  const text = readString(fields, name)?.trim();
  if (text === "") throw invalid(`expected a non-empty string as \`${name}\``, text);
  return text;
}

function readString(fields: Fields, name: string): string | undefined {
  const value = fields[name];
  if (value !== undefined && typeof value !== "string")
    throw invalid(`expected a string as \`${name}\``, value);
  return value;
}

function readFlag(fields: Fields, name: string): boolean | undefined {
  const value = fields[name];
  if (value !== undefined && typeof value !== "boolean")
    throw invalid(`expected true or false as \`${name}\``, value);
  return value;
}

/** As the ledger stores it: dates become strings, and values that JSON cannot represent are omitted. */
function readJson(value: unknown): Json {
  try {
    const json: Json = JSON.parse(JSON.stringify(value) ?? "null");
    return json;
  } catch {
    throw invalid("expected JSON as `extracted`", String(value));
  }
}

function isAbsent(value: unknown): value is undefined | null {
  return value === undefined || value === null;
}

function conflict(fields: readonly string[], routing: unknown): CortexError {
  return new CortexError(
    "hook_failed",
    `The hook returned more than one target, ${fields.join(" and ")}: ${show(routing)}`,
    { hint: "Keep one of thread, session, persona, agent and relay." },
  );
}

function unknownField(name: string, what: string, known: readonly string[]): CortexError {
  return new CortexError(
    "hook_failed",
    `Unknown field ${JSON.stringify(name.slice(0, 80))} in the hook's ${what}`,
    {
      hint: `Known fields: ${known.join(", ")}.`,
    },
  );
}

function invalid(expected: string, value: unknown): CortexError {
  return new CortexError("hook_failed", `Invalid hook result: ${expected}, got ${show(value)}`, {
    hint: "Return {fire, routing?, context?, delivery?, disable_hook?, exclusive?}; the types are in cortexd/hooks.",
  });
}

function show(value: unknown): string {
  const text = typeof value === "string" ? JSON.stringify(value) : (safeJson(value) ?? String(value));
  return truncate(text, 200);
}

function safeJson(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}

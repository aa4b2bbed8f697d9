/**
 * What a sub-agent and its parent say to each other: one JSON object a line, in both directions. Each side
 * checks every line that it reads, for the other may be anybody's program. docs/sub-agent-protocol.md is the
 * same for those who write one.
 */
import type { Json } from "../../model/json.ts";
import type { AssistantBody } from "../../model/message.ts";
import { ACTIVE_PROFILE, type Profile } from "../../model/profile.ts";
import type { Exchange, ToolDescription } from "../agent.ts";
import { parseBody } from "./body.ts";
import {
  type Fields,
  inner,
  list,
  notOfTheProtocol,
  optionalAmount,
  optionalFlag,
  optionalInner,
  optionalText,
  optionalWhole,
  readFields,
  text,
} from "./fields.ts";

/** A program that names no version speaks 1: it is given `init`, and says ready, chunk, done and error. */
export const PROTOCOL_VERSION = 2;

export type ParentLine =
  | Init
  /** Something that was said while it works. */
  | { readonly type: "message"; readonly content: string }
  | { readonly type: "tool_result"; readonly id: string; readonly text: string; readonly isError: boolean }
  /** End with what there is. */
  | { readonly type: "cancel" }
  | { readonly type: "ping" };

export interface Init {
  readonly type: "init";
  readonly version: number;
  readonly config: {
    readonly id: string;
    readonly parentSessionId?: string | undefined;
    readonly instruction: string;
    readonly subAgentType?: string | undefined;
    /** As it was asked for. Of it, only `maxTurns` counts; all else that does is in `agentConfig`. */
    readonly config: Json;
  };
  readonly agentConfig: {
    readonly name: string;
    readonly profile: Profile | string;
    /** Values of variables that the backend of the profile asks for. */
    readonly credentials: Readonly<Record<string, string>>;
    readonly systemPrompt: string;
    readonly tools: readonly ToolDescription[];
    /** How often the model may be called. */
    readonly maxTurns?: number | undefined;
  };
  /** What was said before, and what there is of this turn. Absent: there is only the instruction. */
  readonly conversation?: { readonly history: readonly Exchange[]; readonly current: Exchange } | undefined;
}

export type ChildLine =
  | { readonly type: "ready"; readonly id?: string | undefined; readonly version: number }
  /** Something that it says. An empty one says that it is at work. */
  | Chunk
  /** An assistant message with calls, each of which it is going to request. */
  | { readonly type: "message"; readonly id?: string | undefined; readonly message: AssistantBody }
  | ToolRequest
  | Done
  | Failure
  | { readonly type: "pong"; readonly id?: string | undefined };

interface Chunk {
  readonly type: "chunk";
  readonly id?: string | undefined;
  readonly delta: string;
  readonly kind?: "thinking" | undefined;
}

export interface ToolRequest {
  readonly type: "tool_request";
  readonly id: string;
  readonly name: string;
  readonly arguments: Json;
}

export interface Done {
  readonly type: "done";
  readonly id?: string | undefined;
  readonly result: {
    readonly success: boolean;
    /** The answer; of one that reached a limit, what it found until then. */
    readonly response: string;
    readonly error?: string | undefined;
    /** The limit that ended it, such as `maxTurns`. It was no success then, and no failure either. */
    readonly limit?: string | undefined;
  } & Spent;
  /** The answer in full. */
  readonly message?: AssistantBody | undefined;
}

export interface Failure extends Spent {
  readonly type: "error";
  readonly id?: string | undefined;
  readonly error: string;
  readonly hint?: string | undefined;
  readonly code?: string | undefined;
  readonly transient?: boolean | undefined;
  readonly retryAfterMs?: number | undefined;
}

/** By this run of the program, all in all. */
export interface Spent {
  readonly tokensIn?: number | undefined;
  readonly tokensOut?: number | undefined;
  /** Null: nobody knows. */
  readonly costUsd?: number | null | undefined;
  readonly durationMs?: number | undefined;
}

/** Throws `sub_agent_failed` where it is no line of a child. */
export function parseChildLine(line: string): ChildLine {
  const fields = readFields(line);
  const type = text(fields, "type");
  switch (type) {
    case "ready":
      return { type, id: idOf(fields), version: optionalWhole(fields, "version") ?? 1 };
    case "chunk":
      return { type, id: idOf(fields), delta: text(fields, "delta"), kind: kindOf(fields) };
    case "message":
      return { type, id: idOf(fields), message: parseBody(inner(fields, "message")) };
    case "tool_request":
      return {
        type,
        id: text(fields, "id"),
        name: text(fields, "name"),
        arguments: (optionalInner(fields, "arguments") ?? {}) as Json,
      };
    case "done":
      return parseDone(fields);
    case "error":
      return parseFailure(fields);
    case "pong":
      return { type, id: idOf(fields) };
    default:
      throw notOfTheProtocol(`"${type}" is no type of line that sub-agents send`, line);
  }
}

/**
 * Throws `sub_agent_failed` where it is no line of a parent. Undefined: it is of a type that is not known here, which
 * a parent of a later version may send.
 */
export function parseParentLine(line: string): ParentLine | undefined {
  const fields = readFields(line);
  const type = text(fields, "type");
  switch (type) {
    case "init":
      return parseInit(fields);
    case "message":
      return { type, content: text(fields, "content") };
    case "tool_result":
      return {
        type,
        id: text(fields, "id"),
        text: text(fields, "text"),
        isError: optionalFlag(fields, "isError") ?? false,
      };
    case "cancel":
    case "ping":
      return { type };
    default:
      return undefined;
  }
}

function parseDone(fields: Fields): Done {
  const result = inner(fields, "result");
  const message = optionalInner(fields, "message");
  return {
    type: "done",
    id: idOf(fields),
    result: {
      success: optionalFlag(result, "success") ?? true,
      response: text(result, "response"),
      error: optionalText(result, "error"),
      limit: optionalText(result, "limit"),
      ...parseSpent(result),
    },
    message: message === undefined ? undefined : parseBody(message),
  };
}

function parseFailure(fields: Fields): Failure {
  return {
    type: "error",
    id: idOf(fields),
    error: text(fields, "error"),
    hint: optionalText(fields, "hint"),
    code: optionalText(fields, "code"),
    transient: optionalFlag(fields, "transient"),
    retryAfterMs: optionalAmount(fields, "retryAfterMs"),
    ...parseSpent(fields),
  };
}

function parseSpent(fields: Fields): Spent {
  return {
    tokensIn: optionalWhole(fields, "tokensIn"),
    tokensOut: optionalWhole(fields, "tokensOut"),
    costUsd: fields["costUsd"] === null ? null : optionalAmount(fields, "costUsd"),
    durationMs: optionalAmount(fields, "durationMs"),
  };
}

/** The conversation is the parent's own record, and is taken as it is. */
function parseInit(fields: Fields): Init {
  const config = inner(fields, "config");
  const asked = optionalInner(config, "config") ?? {};
  const agent = optionalInner(fields, "agentConfig") ?? {};
  const conversation = optionalInner(fields, "conversation");
  return {
    type: "init",
    version: optionalWhole(fields, "version") ?? 1,
    config: {
      id: text(config, "id"),
      parentSessionId: optionalText(config, "parentSessionId"),
      instruction: text(config, "instruction"),
      subAgentType: optionalText(config, "subAgentType"),
      config: asked as Json,
    },
    agentConfig: {
      name: optionalText(agent, "name") ?? optionalText(asked, "agentId") ?? DEFAULT_NAME,
      profile: parseProfile(agent),
      credentials: parseCredentials(optionalInner(agent, "credentials") ?? {}),
      systemPrompt: optionalText(agent, "systemPrompt") ?? "",
      tools: agent["tools"] === undefined ? [] : list(agent, "tools").map(parseTool),
      maxTurns: smaller(optionalWhole(agent, "maxTurns"), optionalWhole(asked, "maxTurns")),
    },
    conversation: conversation === undefined ? undefined : parseConversation(conversation),
  };
}

/** Of an agent, and of a profile, that has no name of its own. */
const DEFAULT_NAME = "sub-agent";

/** A name, or all of a profile but its name; without either, whatever profile is active. */
function parseProfile(agent: Fields): Profile | string {
  const given = agent["profile"] ?? ACTIVE_PROFILE;
  if (typeof given === "string") return given;
  const profile = inner(agent, "profile");
  return {
    ...profile,
    name: optionalText(profile, "name") ?? DEFAULT_NAME,
    backend: optionalText(profile, "backend") ?? "pi",
    fallback: [],
  } as unknown as Profile;
}

function smaller(one: number | undefined, other: number | undefined): number | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return Math.min(one, other);
}

function parseCredentials(fields: Fields): Record<string, string> {
  return Object.fromEntries(Object.keys(fields).map((name) => [name, text(fields, name)]));
}

function parseTool(fields: Fields): ToolDescription {
  return {
    name: text(fields, "name"),
    description: optionalText(fields, "description") ?? "",
    parameters: (optionalInner(fields, "parameters") ?? { type: "object" }) as Json,
  };
}

function parseConversation(fields: Fields): NonNullable<Init["conversation"]> {
  return {
    history: list(fields, "history").map(parseExchange),
    current: parseExchange(inner(fields, "current")),
  };
}

function parseExchange(fields: Fields): Exchange {
  list(fields, "messages");
  list(fields, "toolCalls");
  return fields as unknown as Exchange;
}

function idOf(fields: Fields): string | undefined {
  return optionalText(fields, "id");
}

function kindOf(fields: Fields): "thinking" | undefined {
  return optionalText(fields, "kind") === "thinking" ? "thinking" : undefined;
}

/**
 * The protocol between a sub-agent and its parent: one JSON object per line, in both directions. Each side validates every
 * line, because the other side may be a third-party program. docs/sub-agent-protocol.md documents it for authors.
 */
import type { Json } from "../../model/json.ts";
import type { AssistantBody } from "../../model/message.ts";
import { ACTIVE_PROFILE, type Profile } from "../../model/profile.ts";
import type { Exchange, ToolDescription } from "../agent.ts";
import { parseMessageBody } from "./body.ts";
import {
  type Fields,
  requireObject,
  requireList,
  optionalAmount,
  optionalFlag,
  optionalObject,
  optionalText,
  optionalWhole,
  protocolViolation,
  readFields,
  requireText,
} from "./fields.ts";

/** A program that sends no version speaks 1: it receives `init`, and sends ready, chunk, done and error. */
export const PROTOCOL_VERSION = 2;

export type ParentLine =
  | Init
  /** A message that arrived during the work. */
  | { readonly type: "message"; readonly content: string }
  | { readonly type: "tool_result"; readonly id: string; readonly text: string; readonly isError: boolean }
  /** End with what you have. */
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
    /** As requested by the caller. Only its `maxTurns` takes effect; everything else comes from `agentConfig`. */
    readonly config: Json;
  };
  readonly agentConfig: {
    readonly name: string;
    readonly profile: Profile | string;
    /** The environment variables that the profile's backend needs. */
    readonly credentials: Readonly<Record<string, string>>;
    readonly systemPrompt: string;
    readonly tools: readonly ToolDescription[];
    /** The limit on model calls. */
    readonly maxTurns?: number | undefined;
    /** The folder of its agent's tools, for third-party programs. */
    readonly workspace?: string | undefined;
  };
  /** The earlier turns, and this turn so far. Absent: only the instruction. */
  readonly conversation?: { readonly history: readonly Exchange[]; readonly current: Exchange } | undefined;
}

export type ChildLine =
  | { readonly type: "ready"; readonly id?: string | undefined; readonly version: number }
  /** A piece of the answer. An empty one is a sign of life. */
  | Chunk
  /** An assistant message with calls, each of which it will request. */
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
    /** The answer; after a limit, the findings so far. */
    readonly response: string;
    readonly error?: string | undefined;
    /** The limit that ended it, such as `maxTurns`: neither a success nor a failure. */
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

/** The totals of this run of the program. */
export interface Spent {
  readonly tokensIn?: number | undefined;
  readonly tokensOut?: number | undefined;
  /** Null: unknown. */
  readonly costUsd?: number | null | undefined;
  readonly durationMs?: number | undefined;
}

/** Throws `sub_agent_failed` if it is not a line of a child. */
export function parseChildLine(line: string): ChildLine {
  const fields = readFields(line);
  const type = requireText(fields, "type");
  switch (type) {
    case "ready":
      return { type, id: idOf(fields), version: optionalWhole(fields, "version") ?? 1 };
    case "chunk":
      return { type, id: idOf(fields), delta: requireText(fields, "delta"), kind: kindOf(fields) };
    case "message":
      return { type, id: idOf(fields), message: parseMessageBody(requireObject(fields, "message")) };
    case "tool_request":
      return {
        type,
        id: requireText(fields, "id"),
        name: requireText(fields, "name"),
        arguments: optionalObject(fields, "arguments") ?? {},
      };
    case "done":
      return parseDone(fields);
    case "error":
      return parseFailure(fields);
    case "pong":
      return { type, id: idOf(fields) };
    default:
      throw protocolViolation(`unknown type "${type}" for a sub-agent`, line);
  }
}

/**
 * Throws `sub_agent_failed` if it is not a line of a parent. Undefined: an unknown type, which a parent of a later version
 * may send.
 */
export function parseParentLine(line: string): ParentLine | undefined {
  const fields = readFields(line);
  const type = requireText(fields, "type");
  switch (type) {
    case "init":
      return parseInit(fields);
    case "message":
      return { type, content: requireText(fields, "content") };
    case "tool_result":
      return {
        type,
        id: requireText(fields, "id"),
        text: requireText(fields, "text"),
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
  const result = requireObject(fields, "result");
  const message = optionalObject(fields, "message");
  return {
    type: "done",
    id: idOf(fields),
    result: {
      success: optionalFlag(result, "success") ?? true,
      response: requireText(result, "response"),
      error: optionalText(result, "error"),
      limit: optionalText(result, "limit"),
      ...parseSpent(result),
    },
    message: message === undefined ? undefined : parseMessageBody(message),
  };
}

function parseFailure(fields: Fields): Failure {
  return {
    type: "error",
    id: idOf(fields),
    error: requireText(fields, "error"),
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

/** The conversation comes from the parent's own records and is not validated in depth. */
function parseInit(fields: Fields): Init {
  const config = requireObject(fields, "config");
  const asked = optionalObject(config, "config") ?? {};
  const agent = optionalObject(fields, "agentConfig") ?? {};
  const conversation = optionalObject(fields, "conversation");
  return {
    type: "init",
    version: optionalWhole(fields, "version") ?? 1,
    config: {
      id: requireText(config, "id"),
      parentSessionId: optionalText(config, "parentSessionId"),
      instruction: requireText(config, "instruction"),
      subAgentType: optionalText(config, "subAgentType"),
      config: asked,
    },
    agentConfig: {
      name: optionalText(agent, "name") ?? optionalText(asked, "agentId") ?? DEFAULT_NAME,
      profile: parseProfile(agent),
      credentials: parseCredentials(optionalObject(agent, "credentials") ?? {}),
      systemPrompt: optionalText(agent, "systemPrompt") ?? "",
      tools: agent["tools"] === undefined ? [] : requireList(agent, "tools").map(parseTool),
      maxTurns: smaller(optionalWhole(agent, "maxTurns"), optionalWhole(asked, "maxTurns")),
      workspace: optionalText(agent, "workspace"),
    },
    conversation: conversation === undefined ? undefined : parseConversation(conversation),
  };
}

/** For an agent or profile without a name. */
const DEFAULT_NAME = "sub-agent";

/** The name of a profile, or a whole profile whose name is optional. Default: the active profile. */
function parseProfile(agent: Fields): Profile | string {
  const given = agent["profile"] ?? ACTIVE_PROFILE;
  if (typeof given === "string") return given;
  const profile = requireObject(agent, "profile");
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
  return Object.fromEntries(Object.keys(fields).map((name) => [name, requireText(fields, name)]));
}

function parseTool(fields: Fields): ToolDescription {
  return {
    name: requireText(fields, "name"),
    description: optionalText(fields, "description") ?? "",
    parameters: optionalObject(fields, "parameters") ?? { type: "object" },
  };
}

function parseConversation(fields: Fields): NonNullable<Init["conversation"]> {
  return {
    history: requireList(fields, "history").map(parseExchange),
    current: parseExchange(requireObject(fields, "current")),
  };
}

function parseExchange(fields: Fields): Exchange {
  requireList(fields, "messages");
  requireList(fields, "toolCalls");
  return fields as unknown as Exchange;
}

function idOf(fields: Fields): string | undefined {
  return optionalText(fields, "id");
}

function kindOf(fields: Fields): "thinking" | undefined {
  return optionalText(fields, "kind") === "thinking" ? "thinking" : undefined;
}

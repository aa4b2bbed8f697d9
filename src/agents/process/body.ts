/** Parses the assistant message of a sub-agent: `{content, body?}`, like all messages of Cortex. */
import type { Json } from "../../model/json.ts";
import { present } from "../../model/present.ts";
import { assistantBody, type AssistantBody, type Block, type Message } from "../../model/message.ts";
import type { Usage } from "../../model/usage.ts";
import {
  type Fields,
  protocolViolation,
  requireList,
  optionalAmount,
  optionalFlag,
  optionalObject,
  optionalText,
  optionalWhole,
  requireText,
} from "./fields.ts";

/** For a message without a provider or model. */
const UNNAMED = "sub-agent";

/** A message without usage counts as free: the program reports the total at the end. */
export function parseMessageBody(message: Fields): AssistantBody {
  const content = optionalText(message, "content") ?? "";
  const body = optionalObject(message, "body");
  if (body !== undefined) requireList(body, "blocks");
  const blocks = assistantBody({ content, body } as unknown as Message).blocks as unknown as Fields[];
  const api = body && optionalText(body, "api");
  return {
    blocks: blocks.map(parseBlock),
    stop: parseStop(body?.["stop"]),
    provider: (body && optionalText(body, "provider")) ?? UNNAMED,
    model: (body && optionalText(body, "model")) ?? UNNAMED,
    ...(api !== undefined && { api }),
    usage: parseUsage((body && optionalObject(body, "usage")) ?? {}),
    costUsd: body?.["costUsd"] === null ? null : ((body && optionalAmount(body, "costUsd")) ?? 0),
  };
}

function parseBlock(block: Fields): Block {
  const type = requireText(block, "type");
  switch (type) {
    case "text":
      return {
        type,
        text: requireText(block, "text"),
        ...present({ textSignature: optionalText(block, "textSignature") }),
      };
    case "thinking":
      return {
        type,
        thinking: requireText(block, "thinking"),
        ...present({ thinkingSignature: optionalText(block, "thinkingSignature") }),
        ...(optionalFlag(block, "redacted") === true && { redacted: true }),
      };
    case "toolCall":
      return {
        type,
        id: requireText(block, "id"),
        name: requireText(block, "name"),
        arguments: block["arguments"] ?? {},
        ...present({ thoughtSignature: optionalText(block, "thoughtSignature") }),
      };
    default:
      throw protocolViolation("expected a block of type text, thinking or toolCall", JSON.stringify(block));
  }
}

function parseStop(stop: Json | undefined): AssistantBody["stop"] {
  return stop === "length" || stop === "tools" || stop === "aborted" || stop === "limit" ? stop : "stop";
}

function parseUsage(fields: Fields): Usage {
  const count = (name: keyof Usage): number => optionalWhole(fields, name) ?? 0;
  return {
    input: count("input"),
    output: count("output"),
    cacheRead: count("cacheRead"),
    cacheWrite: count("cacheWrite"),
    reasoning: count("reasoning"),
  };
}

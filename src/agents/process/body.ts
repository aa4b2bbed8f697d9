/** An assistant message as a sub-agent writes it: `{content, body?}`, as messages are everywhere in Cortex. */
import type { Json } from "../../model/json.ts";
import { present } from "../../model/present.ts";
import { assistantBody, type AssistantBody, type Block, type Message } from "../../model/message.ts";
import type { Usage } from "../../model/usage.ts";
import {
  type Fields,
  list,
  notOfTheProtocol,
  optionalAmount,
  optionalFlag,
  optionalInner,
  optionalText,
  optionalWhole,
  text,
} from "./fields.ts";

/** What is not said of the maker of a message. */
const UNNAMED = "sub-agent";

/** What it does not say of itself has cost nothing: the program tells the sum when it is done. */
export function parseBody(message: Fields): AssistantBody {
  const content = optionalText(message, "content") ?? "";
  const body = optionalInner(message, "body");
  if (body !== undefined) list(body, "blocks");
  const blocks = assistantBody({ content, body } as unknown as Message).blocks as unknown as Fields[];
  const api = body && optionalText(body, "api");
  return {
    blocks: blocks.map(parseBlock),
    stop: parseStop(body?.["stop"]),
    provider: (body && optionalText(body, "provider")) ?? UNNAMED,
    model: (body && optionalText(body, "model")) ?? UNNAMED,
    ...(api !== undefined && { api }),
    usage: parseUsage((body && optionalInner(body, "usage")) ?? {}),
    costUsd: body?.["costUsd"] === null ? null : ((body && optionalAmount(body, "costUsd")) ?? 0),
  };
}

function parseBlock(block: Fields): Block {
  const type = text(block, "type");
  switch (type) {
    case "text":
      return {
        type,
        text: text(block, "text"),
        ...present({ textSignature: optionalText(block, "textSignature") }),
      };
    case "thinking":
      return {
        type,
        thinking: text(block, "thinking"),
        ...present({ thinkingSignature: optionalText(block, "thinkingSignature") }),
        ...(optionalFlag(block, "redacted") === true && { redacted: true }),
      };
    case "toolCall":
      return {
        type,
        id: text(block, "id"),
        name: text(block, "name"),
        arguments: block["arguments"] ?? {},
        ...present({ thoughtSignature: optionalText(block, "thoughtSignature") }),
      };
    default:
      throw notOfTheProtocol("a block is no text, thinking or toolCall", JSON.stringify(block));
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

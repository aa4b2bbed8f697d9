/**
 * What the protocols in which models are asked have in common, from the server's side: what a request says,
 * and an answer as the pieces in which it is sent.
 */
import type { Json } from "../../src/model/json.ts";

export interface Protocol {
  readonly path: RegExp;
  read(body: unknown): Asked;
  pieces(answer: Answer): Piece[];
  /** The answer in one, for protocols that stream only when asked to. */
  whole?(answer: Answer): Json;
}

/** A request, the same in all protocols. */
export interface Asked {
  readonly messages: readonly AskedMessage[];
  /** The names of the tools. */
  readonly tools: readonly string[];
}

export interface AskedMessage {
  readonly role: "system" | "user" | "assistant" | "tool";
  readonly text: string;
  readonly calls: readonly AskedCall[];
  /** Of a tool's message: the call that it answers. */
  readonly callId?: string;
}

export interface AskedCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: Json;
}

export interface Answer {
  readonly id: string;
  readonly model: string;
  readonly thinking: string;
  readonly text: string;
  /** Arguments that are a text are sent as they are: as what a model wrote that is no JSON. */
  readonly calls: readonly AskedCall[];
  readonly stop: "stop" | "length" | "tools";
  readonly usage: { readonly input: number; readonly output: number; readonly cacheRead: number };
}

export interface Piece {
  readonly kind: "start" | "thinking" | "text" | "call" | "end";
  readonly data: string;
}

/** Content as a text or as blocks. */
export type Content = string | null | undefined | readonly { readonly text?: string }[];

function textOf(content: Content): string {
  if (content === null || content === undefined) return "";
  return typeof content === "string" ? content : content.map(({ text = "" }) => text).join("");
}

export function said(
  role: AskedMessage["role"],
  content: Content,
  more: Partial<Pick<AskedMessage, "calls" | "callId">> = {},
): AskedMessage {
  return { role, text: textOf(content), calls: [], ...more };
}

export function piece(kind: Piece["kind"], data: Json): Piece {
  return { kind, data: `data: ${JSON.stringify(data)}\n\n` };
}

/** A piece whose kind the stream names. */
export function event(kind: Piece["kind"], type: string, fields: { readonly [key: string]: Json }): Piece {
  return { kind, data: `event: ${type}\n${piece(kind, { type, ...fields }).data}` };
}

/** Texts come in halves, so that there is a middle at which to stop. */
export function halves(text: string): string[] {
  const middle = Math.ceil(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)].filter((half) => half !== "");
}

/** Arguments as the model writes them. */
export function written(call: AskedCall): string {
  return typeof call.arguments === "string" ? call.arguments : JSON.stringify(call.arguments);
}

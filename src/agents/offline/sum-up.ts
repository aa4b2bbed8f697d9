import type { Exchange } from "../agent.ts";
import { CHARACTERS_PER_TOKEN } from "../estimate-tokens.ts";
import { shorten } from "./shorten.ts";

/** How much of the window a summary may take. */
const SUMMARY_SHARE = 0.1;
const MAX_LINE_LENGTH = 100;

/** The newest lines of what is to be summed up, each shortened: all that can be done without understanding. */
export function sumUp(exchanges: readonly Exchange[], window: number): string {
  const text = exchanges.flatMap(({ messages }) => messages.map(({ content }) => content)).join("\n");
  let room = window * CHARACTERS_PER_TOKEN * SUMMARY_SHARE;
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  const kept: string[] = [];
  for (const line of lines.toReversed()) {
    const short = shorten(line.trim(), MAX_LINE_LENGTH);
    room -= short.length + 1;
    if (room < 0) break;
    kept.unshift(short);
  }
  return ["The offline model sums up by shortening:", ...kept].join("\n");
}

/**
 * What a plugin for a chat platform is made of, as `cortexd/channels`: the types of the port, its errors, and the checks that
 * every channel passes. docs/channel-plugins.md explains it.
 */
import type { Counterpart } from "../channels/kit/counterpart.ts";
import type { ConformanceCheck, ConformanceOptions, ConformingChannel } from "./checks.ts";

export { z } from "zod";
export * from "../channels/channel.ts";
export type * from "../channels/kit/counterpart.ts";
export type { MessageFormat } from "../model/cut-rich-text.ts";
export type { Json } from "../model/json.ts";
export { type RichText, type RichTextRange, runsOf, type TextRun } from "../model/rich-text.ts";
export type { ConformanceCheck, ConformanceOptions, ConformingChannel };

/** The checks of a channel, to be run one after the other. `start` opens a new counterpart for each. */
export async function conformance(
  channel: ConformingChannel,
  start: () => Promise<Counterpart>,
  options: ConformanceOptions = {},
): Promise<readonly ConformanceCheck[]> {
  const { conformanceChecks } = await import("./checks.ts"); // with all of Cortex behind it
  return conformanceChecks(channel, start, options);
}

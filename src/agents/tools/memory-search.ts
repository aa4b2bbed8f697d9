/**
 * Searches the ledger: the messages of all channels and the answers of all agents. In a turn that is kept to the data of
 * one person or room, only what they have heard. Its results have the labels of what they quote.
 */
import { z } from "zod";

import type { Tool } from "../../model/tool.ts";
import { joinLabels, type Label, NO_LABEL, OWNERS } from "../../model/trust.ts";
import { truncate } from "../../model/truncate.ts";
import { defineFileTool } from "./file-tool.ts";
import { capOutput } from "./output.ts";

export const MAX_MEMORY_HITS = 50;
const DEFAULT_HITS = 10;
export const MAX_SEARCH_LENGTH = 1000;
export const MAX_CHANNELS = 20;
/** The length of a hit; `cortex show` and `cortex events` show the whole text. */
export const MAX_HIT_SHOWN = 1000;
const SEARCH_TIMEOUT_MS = 30_000;

export interface MemoryHit {
  /** The id of an event or a turn, for citations. */
  readonly id: string;
  readonly kind: "event" | "turn";
  readonly atMs: number;
  readonly channel?: string | undefined;
  readonly sender?: string | undefined;
  readonly text: string;
  readonly label: Label;
  /** Higher is better; only the order counts. */
  readonly score: number;
}

export interface MemoryQuery {
  readonly limit: number;
  /** Absent: all channels. */
  readonly channels?: readonly string[] | undefined;
  /** Inclusive. */
  readonly sinceMs?: number | undefined;
  /** Exclusive. */
  readonly untilMs?: number | undefined;
  /** Absent: everyone's messages. */
  readonly audience?: string | undefined;
}

/** Best hits first. */
type MemorySearch = (text: string, query: MemoryQuery) => Promise<readonly MemoryHit[]>;

const moment = z
  .union([z.iso.date(), z.iso.datetime({ offset: true })])
  .transform((text) => Date.parse(text));

export function createMemorySearchTool({ search }: { readonly search: MemorySearch }): Tool {
  return defineFileTool({
    name: "memory_search",
    description:
      "Searches all messages to and from the agents here, in all sessions and channels. Returns the best hits with " +
      "their ids: cite them as [id].",
    parameters: z.strictObject({
      query: z.string().trim().min(1).max(MAX_SEARCH_LENGTH),
      limit: z
        .int()
        .min(1)
        .max(MAX_MEMORY_HITS)
        .optional()
        .describe(`Number of hits (default: ${DEFAULT_HITS})`),
      channels: z
        .array(z.string().min(1))
        .min(1)
        .max(MAX_CHANNELS)
        .optional()
        .describe("Only messages on these channels"),
      since: moment.optional().describe("At or after: 2026-01-31 or 2026-01-31T09:00:00Z"),
      until: moment.optional().describe("Before: 2026-01-31 or 2026-01-31T09:00:00Z"),
    }),
    writes: false,
    repeatable: true,
    timeoutMs: SEARCH_TIMEOUT_MS,
    trust: { untrusted: true, private: true },
    errorTrust: {},
    labels: true,
    async run({ query, limit = DEFAULT_HITS, channels, since, until }, context) {
      const audience = context.confinedTo;
      const found = await search(query, { limit, channels, sinceMs: since, untilMs: until, audience });
      const hits = found.slice(0, limit);
      const label = joinLabels(audience === undefined ? OWNERS : NO_LABEL, ...hits.map((hit) => hit.label));
      if (hits.length === 0) return { text: `No results for ${JSON.stringify(query)}.`, label };
      return {
        label,
        text: await capOutput(hits.map(describe).join("\n\n"), context),
        details: hits.map(({ id, kind, score }) => ({ id, kind, score })),
      };
    },
  });
}

function describe({ id, kind, atMs, channel, sender, text }: MemoryHit, index: number): string {
  const from = [channel, sender].filter((part) => part !== undefined);
  const head = [`${index + 1}. [${id}] ${kind}`, new Date(atMs).toISOString(), ...from].join(", ");
  return `${head}\n${truncate(text, MAX_HIT_SHOWN)}`;
}

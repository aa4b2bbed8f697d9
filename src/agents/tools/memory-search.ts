/**
 * Looks up what was said and done. The ledger is the owner's as a whole: whoever may use this tool may read what
 * came in by every channel and what every agent answered. So a persona that talks with others is not given it,
 * and what it brings counts as private.
 */
import { z } from "zod";

import type { Tool } from "../../model/tool.ts";
import { defineFileTool } from "./file-tool.ts";
import { capOutput } from "./output.ts";

export const MAX_HITS = 50;
const DEFAULT_HITS = 10;
export const MAX_SEARCH_LENGTH = 1000;
export const MAX_CHANNELS = 20;
/** Of one hit; `cortex show` and `cortex events` have the whole. */
export const MAX_HIT_LENGTH = 1000;
const SEARCH_TIMEOUT_MS = 30_000;

export interface MemoryHit {
  /** Of an event or a turn: to cite it by. */
  readonly id: string;
  readonly kind: "event" | "turn";
  readonly atMs: number;
  readonly channel?: string | undefined;
  readonly sender?: string | undefined;
  readonly text: string;
  /** Higher is better; only the order counts. */
  readonly score: number;
}

export interface MemoryQuery {
  readonly limit: number;
  /** Absent: all of them. */
  readonly channels?: readonly string[] | undefined;
  /** Not before this moment. */
  readonly sinceMs?: number | undefined;
  /** Before this moment. */
  readonly untilMs?: number | undefined;
}

/** The best come first. */
type MemorySearch = (text: string, query: MemoryQuery) => Promise<readonly MemoryHit[]>;

const moment = z
  .union([z.iso.date(), z.iso.datetime({ offset: true })])
  .transform((text) => Date.parse(text));

export function createMemorySearchTool({ search }: { readonly search: MemorySearch }): Tool {
  return defineFileTool({
    name: "memory_search",
    description:
      "Searches everything that was said to and by the agents here, in all sessions and channels. Gives the best " +
      "hits with their ids: cite them as [id].",
    parameters: z.strictObject({
      query: z.string().trim().min(1).max(MAX_SEARCH_LENGTH),
      limit: z.int().min(1).max(MAX_HITS).optional().describe(`How many; ${DEFAULT_HITS} if left out`),
      channels: z
        .array(z.string().min(1))
        .min(1)
        .max(MAX_CHANNELS)
        .optional()
        .describe("Only what came by these channels"),
      since: moment.optional().describe("Not before: 2026-01-31 or 2026-01-31T09:00:00Z"),
      until: moment.optional().describe("Before: 2026-01-31 or 2026-01-31T09:00:00Z"),
    }),
    writes: false,
    repeatable: true,
    timeoutMs: SEARCH_TIMEOUT_MS,
    trust: { untrusted: true, private: true },
    async run({ query, limit = DEFAULT_HITS, channels, since, until }, context) {
      const found = await search(query, { limit, channels, sinceMs: since, untilMs: until });
      const hits = found.slice(0, limit);
      if (hits.length === 0) return { text: `Nothing was found for ${JSON.stringify(query)}.` };
      return {
        text: await capOutput(hits.map(describe).join("\n\n"), context),
        details: hits.map(({ id, kind, score }) => ({ id, kind, score })),
      };
    },
  });
}

function describe({ id, kind, atMs, channel, sender, text }: MemoryHit, index: number): string {
  const from = [channel, sender].filter((part) => part !== undefined);
  const head = [`${index + 1}. [${id}] ${kind}`, new Date(atMs).toISOString(), ...from].join(", ");
  const cut = text.length > MAX_HIT_LENGTH ? `${text.slice(0, MAX_HIT_LENGTH).toWellFormed()}…` : text;
  return `${head}\n${cut}`;
}

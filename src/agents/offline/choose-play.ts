/**
 * Finds the next play of a script. Only the messages of the turn decide, so an interrupted turn continues where it stopped:
 *
 * - The first entry that matches a message of the user is played.
 * - Each message of the assistant is one play of it.
 * - A message that arrives in between selects the entry that it matches. A different entry starts with its first play;
 *   for the same entry, or none, the current one continues.
 */
import type { AgentId } from "../../model/ids.ts";
import type { Json } from "../../model/json.ts";
import { ownerPatterns } from "../../patterns/matcher.ts";
import type { Exchange } from "../agent.ts";
import type { Play, Script } from "./script.ts";

/** How much of a message is matched and can be quoted. */
export const MAX_MATCHED_LENGTH = 100_000;

type Choice =
  /** With the message and the groups of the match filled in. */
  | { readonly kind: "play"; readonly play: Play; readonly entry: number; readonly number: number }
  /** All plays were played, but the last one made calls. */
  | { readonly kind: "over" }
  | { readonly kind: "none" };

interface Match {
  readonly entry: number;
  readonly message: string;
  /** Starting with `$0`, the whole match. */
  readonly groups: readonly string[];
}

/** Throws `pattern_refused` if a pattern is too complex for a message. */
export async function choosePlay(script: Script, exchange: Exchange, agent: AgentId): Promise<Choice> {
  let match: Match | undefined;
  let played = 0;
  for (const { role, content } of exchange.messages) {
    if (role === "assistant") played++;
    if (role !== "user") continue;
    const next = await findMatch(script, content, agent);
    if (next === undefined && played > 0) continue;
    if (next?.entry !== match?.entry) played = 0;
    match = next;
  }
  if (match === undefined) return { kind: "none" };
  const play = script[match.entry]?.plays[played];
  if (play === undefined) return { kind: "over" };
  return { kind: "play", play: fillPlay(play, match), entry: match.entry, number: played };
}

async function findMatch(script: Script, content: string, agent: string): Promise<Match | undefined> {
  const message = content.slice(0, MAX_MATCHED_LENGTH).toWellFormed();
  const entries = [...script.entries()].filter(([, { agent: only }]) => only === undefined || only === agent);
  const patterns = entries.map(([, { when }]) => when);
  const found = await ownerPatterns.find(patterns, message);
  const [entry] = (found && entries[found.index]) ?? [];
  return found === undefined || entry === undefined ? undefined : { entry, message, groups: found.groups };
}

function fillPlay(play: Play, match: Match): Play {
  const calls = play.calls.map(({ tool, args }) => ({ tool, args: fillJson(args, match) }));
  return { ...play, say: fillText(play.say, match), calls };
}

function fillJson(value: Json, match: Match): Json {
  if (typeof value === "string") return fillText(value, match);
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) return value.map((item: Json) => fillJson(item, match));
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, fillJson(field, match)]));
}

/** In one pass, so that text from the message is not itself expanded. `$$1` is a literal `$1`. */
function fillText(text: string, { message, groups }: Match): string {
  return text.replaceAll(/\{\{message\}\}|\$?\$[1-9]/g, (found) => {
    if (found === "{{message}}") return message;
    if (found.startsWith("$$")) return found.slice(1);
    return groups[Number(found.slice(1))] ?? found;
  });
}

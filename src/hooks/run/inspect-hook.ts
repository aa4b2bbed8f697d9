/**
 * Describes what a hook exports, in the process that has loaded it: compiling patterns and schedules takes more memory
 * than everything else the main process needs for hooks, and most hooks only need to be known, not run.
 */
import { CortexError, errorText } from "../../model/errors.ts";
import { isJsonObject, type Json } from "../../model/json.ts";
import { compileFilter } from "../judge/filter.ts";
import type { HookExports, HookInspection } from "./lane-protocol.ts";

export async function inspectHook(exported: HookExports): Promise<HookInspection> {
  // As it will be stored: a date becomes a text, and a function is dropped.
  const { triggers, filter: own, ...facts }: StoredExports = JSON.parse(JSON.stringify(exported));
  try {
    const filter = filterOfTriggers(triggers, own);
    const { match } = compileFilter(filter);
    // In this process, which is killed if it takes too long.
    if (match !== undefined) (await import("../../patterns/compile.ts")).compilePattern(match);
    return { ...facts, ...(filter === undefined || filter === null ? {} : { filter }) };
  } catch (error) {
    return { ...facts, problem: errorText(error) };
  }
}

type StoredExports = Omit<HookExports, "filter" | "triggers"> & {
  readonly filter?: Json;
  readonly triggers?: Json;
};

const DIRECTIONS: Readonly<Record<string, string>> = { inbound: "received", outbound: "sent" };
const EVENT_FIELDS = ["channels", "types", "direction", "metadata"];
const PRINCIPAL_FIELDS = ["name", "entity_id", "type"];
/** Of the kinds of principals, an event shows only this one and the owner. */
const ANYBODY = "any";

/** The triggers of `export const hook = {triggers, handler}`, merged into its filter, if any. Throws `hook_failed`. */
function filterOfTriggers(triggers: Json | undefined, filter: Json | undefined): Json | undefined {
  if (triggers === undefined || triggers === null) return filter;
  const own = filter ?? {};
  if (!isJsonObject(own)) return filter; // `compileFilter` says what is wrong with it
  const { principal, event } = readObject("triggers", triggers, ["principal", "event"]);
  const { direction, ...rest } = event === undefined ? {} : readObject("event", event, EVENT_FIELDS);
  const directions = direction === undefined ? {} : { directions: [direction].flat().map(readDirection) };
  return { ...rest, ...directions, ...readPrincipal(principal), ...own };
}

function readDirection(direction: Json): Json {
  return typeof direction === "string" ? (DIRECTIONS[direction] ?? direction) : direction;
}

function readPrincipal(principal: Json | undefined): { senders?: Json[] } {
  if (principal === undefined || principal === null) return {};
  const { name, entity_id, type = ANYBODY } = readObject("principal", principal, PRINCIPAL_FIELDS);
  if (type === "owner") return { senders: ["owner"] };
  if (type !== ANYBODY) throw invalid(`Expected "owner" or "${ANYBODY}" as the type of a principal`, type);
  const senders = [entity_id ?? name].flat().filter((sender) => sender !== undefined);
  return senders.length === 0 ? {} : { senders };
}

function readObject(what: string, value: Json, known: readonly string[]): { readonly [field: string]: Json } {
  if (!isJsonObject(value)) throw invalid(`Expected an object as \`${what}\``, value);
  const unknown = Object.keys(value).find((field) => !known.includes(field));
  if (unknown !== undefined) throw invalid(`Expected only ${known.join(", ")} in \`${what}\``, unknown);
  return value;
}

function invalid(rule: string, value: Json): CortexError {
  return new CortexError("hook_failed", `${rule}, got ${JSON.stringify(value).slice(0, 200)}`, {
    hint: "Omit it and check in the handler, or write a `filter`.",
  });
}

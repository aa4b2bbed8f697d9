/** The triggers of `export const hook = {triggers, handler}`, as a filter. */
import { CortexError } from "../../model/errors.ts";

const DIRECTIONS: Readonly<Record<string, string>> = { inbound: "received", outbound: "sent" };
const OF_EVENT = ["channels", "types", "direction", "metadata"];
/** Who somebody is, as far as an event says it. */
const OF_PRINCIPAL = ["name", "entity_id", "type"];
/** Of the kinds of principals, only these can be told from an event. */
const ANYBODY = "any";

/** Merged into the filter that the hook has beside them, if it has one. Throws `hook_failed`. */
export function filterOfTriggers(triggers: unknown, filter: unknown): unknown {
  if (triggers === undefined || triggers === null) return filter;
  const { principal, event } = readObject("triggers", triggers, ["principal", "event"]);
  const { direction, ...rest } = event === undefined ? {} : readObject("event", event, OF_EVENT);
  const directions = direction === undefined ? {} : { directions: [direction].flat().map(readDirection) };
  return { ...rest, ...directions, ...readPrincipal(principal), ...(filter as object | undefined) };
}

function readDirection(direction: unknown): unknown {
  return typeof direction === "string" ? (DIRECTIONS[direction] ?? direction) : direction;
}

function readPrincipal(principal: unknown): { senders?: unknown[] } {
  if (principal === undefined || principal === null) return {};
  const { name, entity_id, type = ANYBODY } = readObject("principal", principal, OF_PRINCIPAL);
  if (type === "owner") return { senders: ["owner"] };
  if (type !== ANYBODY) throw invalid(`A principal's type is "owner" or "${ANYBODY}"`, type);
  const senders = [entity_id ?? name].flat().filter((sender) => sender !== undefined);
  return senders.length === 0 ? {} : { senders };
}

function readObject(
  what: string,
  value: unknown,
  known: readonly string[],
): Readonly<Record<string, unknown>> {
  if (value === null || typeof value !== "object" || Array.isArray(value))
    throw invalid(`\`${what}\` is an object`, value);
  const unknown = Object.keys(value).find((field) => !known.includes(field));
  if (unknown !== undefined) throw invalid(`Of \`${what}\`, only ${known.join(", ")} can be judged`, unknown);
  return value as Readonly<Record<string, unknown>>;
}

function invalid(rule: string, value: unknown): CortexError {
  return new CortexError("hook_failed", `${rule}, and this hook has ${JSON.stringify(value).slice(0, 200)}`, {
    hint: "Leave it out and judge it in the handler, or write a `filter`.",
  });
}

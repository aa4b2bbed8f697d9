/**
 * On whose authority something happens. Agents act for others: what they cause has the principal of what caused it.
 * `agent:<id>` stands only for what an agent began by itself.
 *
 *     owner · person:ada · guest:telegram:42 · source:webhook:pay · agent:main
 */
import { accountName } from "./account-name.ts";
import {
  AGENT_ADAPTER,
  ANSWER_ADAPTER,
  FILES_ADAPTER,
  isOwnAdapter,
  OWNER_ADAPTERS,
  RELAY_ADAPTER,
  SCRIPT_ADAPTER,
  TEAM_ADAPTER,
  TIMER_ADAPTER,
  WEBHOOK_ADAPTER,
} from "./event.ts";

export type Principal = string & { readonly __id: "principal" };

export const OWNER_PRINCIPAL = "owner" as Principal;

type PrincipalKind = "owner" | "person" | "guest" | "source" | "agent";

/** The identity of a sender on a channel: `telegram:42`, or `telegram@work:42` on another account than the default one. */
export type Identity = string & { readonly __id: "identity" };

const IDENTITY = /^([a-z0-9][a-z0-9_.-]{0,63})(@[^:\s]{1,64})?:(?!\s)[^\p{Cc}]{1,256}$/u;

/** Written so, with a channel as adapters may name themselves. On channels of Cortex itself, nobody has an identity. */
export function isIdentity(text: string): text is Identity {
  const [, channel] = IDENTITY.exec(text) ?? [];
  return channel !== undefined && !isOwnAdapter(channel);
}

export function personPrincipal(id: string): Principal {
  return `person:${id}` as Principal;
}

export function guestPrincipal(identity: Identity): Principal {
  return `guest:${identity}` as Principal;
}

/** A program that the configuration names: `webhook:pay`, `files:inbox`, `timer`. */
export function sourcePrincipal(channel: string, name?: string): Principal {
  return `source:${name === undefined ? channel : `${channel}:${name}`}` as Principal;
}

export function agentPrincipal(agent: string): Principal {
  return `agent:${agent}` as Principal;
}

export function principalKind(principal: string): PrincipalKind {
  const [kind] = principal.split(":", 1);
  return kind as PrincipalKind;
}

export function isOwner(principal: string): boolean {
  return principal === OWNER_PRINCIPAL;
}

/** Whether it uses what others than the owner may use together. A timer is the owner's own schedule. */
export function isOthers(principal: string): boolean {
  return !isOwner(principal) && !/^source:timer(:|$)/.test(principal);
}

/** The id of a person. Undefined: it is none. */
export function personIdOf(principal: string): string | undefined {
  return principalKind(principal) === "person" ? principal.slice("person:".length) : undefined;
}

/** A shared room, as an audience: what is private to it may be told in it. */
export function roomAudience({
  channel,
  account,
  place,
}: {
  readonly channel: string;
  readonly account?: string | undefined;
  readonly place: string;
}): string {
  return `${ROOM}${identityOf({ channel, account, sender: place })}`;
}

const ROOM = "room:";

export function isRoom(audience: string): boolean {
  return audience.startsWith(ROOM);
}

export function identityOf({
  channel,
  account,
  sender,
}: {
  readonly channel: string;
  readonly account?: string | undefined;
  readonly sender: string;
}): Identity {
  return `${accountName(channel, account)}:${sender}` as Identity;
}

/** What relays, scripts and teams begin, they begin for the owner. */
const OWNERS_ADAPTERS: ReadonlySet<string> = new Set([
  AGENT_ADAPTER,
  RELAY_ADAPTER,
  SCRIPT_ADAPTER,
  TEAM_ADAPTER,
]);

/** Programs that the configuration names. */
export const SOURCE_ADAPTERS: ReadonlySet<string> = new Set([FILES_ADAPTER, TIMER_ADAPTER, WEBHOOK_ADAPTER]);

/** Whether this is how the owner comes in through a door that asks for the token. */
export function isAtOwnDoor({
  channel,
  sender,
}: {
  readonly channel: string;
  readonly sender?: string | null | undefined;
}): boolean {
  return (OWNER_ADAPTERS as readonly string[]).includes(channel) && sender === OWNER_PRINCIPAL;
}

/** Of an event stored without a principal. */
export function principalBefore({
  id,
  channel,
  sender,
}: {
  readonly id: string;
  readonly channel: string;
  readonly sender?: string | null | undefined;
}): Principal {
  if (isAtOwnDoor({ channel, sender })) return OWNER_PRINCIPAL;
  const [adapter = ""] = id.split(":", 1);
  if (OWNERS_ADAPTERS.has(adapter)) return OWNER_PRINCIPAL;
  if (adapter === ANSWER_ADAPTER) return agentPrincipal("unknown");
  if (SOURCE_ADAPTERS.has(channel)) return sourcePrincipal(channel, sender ?? undefined);
  return sender === undefined || sender === null
    ? sourcePrincipal(channel)
    : guestPrincipal(identityOf({ channel, sender }));
}

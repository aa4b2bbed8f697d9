/**
 * Where an event goes that nobody has routed: to the session of its place by the configuration, or to the one that people
 * have moved the talk of the place to, with `/new` or `/fork`.
 */
import { createHash } from "node:crypto";

import { conversationOn } from "../config/channel-accounts.ts";
import { DEFAULT_AGENT, type PersonaId } from "../model/ids.ts";
import type { Principal } from "../model/principal.ts";
import { present } from "../model/present.ts";
import { buildSessionKey, parseSessionKey, type SessionKey } from "../model/session-key.ts";
import type { NewEvent, SessionReads, Store } from "../store/store.ts";
import { type RoutingPorts, type SessionTarget, sessionTarget } from "./resolve.ts";
import { sessionOfEvent } from "./session-of-event.ts";

export interface EventRoute {
  readonly target: SessionTarget;
  /** By the configuration alone. */
  readonly from: SessionKey;
}

interface Ports extends Pick<RoutingPorts, "config"> {
  readonly store: Pick<Store, "sessions" | "holdsSecret">;
}

export async function routeOfEvent(
  event: NewEvent & { readonly principal: Principal },
  ports: Ports,
): Promise<EventRoute> {
  const { config, store } = ports;
  const from = sessionOfEvent(event, config);
  const session = await currentSession(event, from, store);
  const wished = conversationOn(config, event)?.persona as PersonaId | undefined;
  const target = await sessionTarget(session, ports, wished);
  if (wished === undefined) return { target, from };
  const isElsewhere = config.agents[target.agent]?.persona !== wished && isShared(session);
  if (target.persona === wished && !isElsewhere) return { target, from };
  // What was said to another persona stays with that one.
  const own = talkSession(session, `${session} as ${wished}`);
  return { target: await sessionTarget(own, ports, wished), from };
}

/** A talk of its own, apart from that of another session, with the same agent. The same for the same key. */
export function talkSession(beside: SessionKey, key: string): SessionKey {
  const parsed = parseSessionKey(beside);
  const agent = "agent" in parsed ? parsed.agent : DEFAULT_AGENT;
  const id = createHash("sha256").update(key).digest("hex").slice(0, TALK_ID_LENGTH);
  return buildSessionKey({ kind: "other", agent, rest: ["talk", id] });
}

const TALK_ID_LENGTH = 26;

async function currentSession(
  { channel, account, place, topic, id }: NewEvent,
  from: SessionKey,
  { sessions }: { readonly sessions: Pick<SessionReads, "movedTo"> },
): Promise<SessionKey> {
  if (place === undefined) return from;
  return (await sessions.movedTo(present({ channel, account, place, topic }), from, id)) ?? from;
}

/** Whether other channels and the owner's terminal lead to it, too. */
function isShared(session: SessionKey): boolean {
  const parsed = parseSessionKey(session);
  return parsed.kind === "main" || (parsed.kind === "dm" && parsed.channel === undefined);
}

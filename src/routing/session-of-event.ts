import { type Conversation, conversationOn } from "../config/channel-accounts.ts";
import type { Config } from "../config/config.ts";
import { CortexError } from "../model/errors.ts";
import { isByAgent, placeKindOf } from "../model/event.ts";
import { type AgentId, DEFAULT_AGENT } from "../model/ids.ts";
import { OWNER_ID } from "../model/person.ts";
import { present } from "../model/present.ts";
import { isAtOwnDoor, isOwner, personIdOf, type Principal } from "../model/principal.ts";
import { buildSessionKey, dmSessionKey, MAIN_SESSION, type SessionKey } from "../model/session-key.ts";
import type { NewEvent } from "../store/store.ts";

/**
 * The session of an event that nobody has routed: what is said in a group stays in the group's own session, and in its
 * topic's; a direct message goes where `dmScope` says. The owner's own conversation is in the main session, so no other
 * person gets there. Programs and the owner's terminal have no place: theirs is main.
 */
export function sessionOfEvent(
  event: NewEvent & { readonly principal: Principal },
  config: Pick<Config, "dmScope" | "channels" | "agents">,
): SessionKey {
  const { id, channel, account, place, topic, sender, principal } = event;
  const conversation = conversationOn(config, event);
  const { dmScope: scope = config.dmScope } = conversation ?? {};
  const agent = conversation === undefined ? DEFAULT_AGENT : agentOn(conversation, config);
  const kind = placeKindOf(event) ?? (place === undefined || place === sender ? "dm" : "group");
  const at = present({ agent, channel, account, topic });
  if (kind !== "dm") {
    if (place === undefined) throw placeMissing(id, kind);
    return buildSessionKey({ kind: "place", placeKind: kind, place, ...at });
  }
  const peer = sender ?? place;
  const person = isOwner(principal) ? OWNER_ID : personIdOf(principal);
  if (person === undefined || peer === undefined) return mainOf(agent);
  if (person === OWNER_ID && (isAtOwnDoor(event) || isByAgent(event))) return MAIN_SESSION;
  // What agents cause for a person has no place of theirs, and is with the person all the same.
  return dmSessionKey({ ...at, peer, person, scope: isByAgent(event) ? "per-peer" : scope });
}

/** Who answers on an account: the agent that it names, or the first one with its persona. */
function agentOn({ agent, persona }: Conversation, { agents }: Pick<Config, "agents">): AgentId {
  if (agent !== undefined) return agent as AgentId;
  const withPersona = Object.entries(agents).find(([, candidate]) => candidate.persona === persona)?.[0];
  return (withPersona ?? DEFAULT_AGENT) as AgentId;
}

function mainOf(agent: AgentId): SessionKey {
  return buildSessionKey({ kind: "main", agent });
}

function placeMissing(id: string, kind: string): CortexError {
  return new CortexError("target_invalid", `Event ${id} is from a ${kind} but has no \`place\``, {
    hint: "Return `routing` from the hook, or set `place` in the adapter.",
  });
}

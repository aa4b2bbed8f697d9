/** Who has heard an event, and what its label is: see `audience.ts` of the model. */
import { isOutside } from "../../model/audience.ts";
import {
  AGENT_ADAPTER,
  ANSWER_ADAPTER,
  HOOK_ADAPTER,
  OWNER_ADAPTERS,
  RELAY_ADAPTER,
  SCRIPT_ADAPTER,
  splitEventId,
  TEAM_ADAPTER,
} from "../../model/event.ts";
import { DEFAULT_ACCOUNT, type EventId } from "../../model/ids.ts";
import type { Json } from "../../model/json.ts";
import { isRoom, OWNER_PRINCIPAL, type Principal, principalBefore } from "../../model/principal.ts";
import { joinLabels, type Label, NO_LABEL, parseTrust } from "../../model/trust.ts";
import { parseJson } from "./row.ts";

/** Agents write under these, no matter for whom they act. */
const ADAPTERS_OF_AGENTS: ReadonlySet<string> = new Set([
  AGENT_ADAPTER,
  ANSWER_ADAPTER,
  HOOK_ADAPTER,
  RELAY_ADAPTER,
  SCRIPT_ADAPTER,
  TEAM_ADAPTER,
]);

/** What they write to each other nobody has heard, but the answers. */
const UNHEARD_ADAPTERS = [...ADAPTERS_OF_AGENTS].filter((adapter) => adapter !== ANSWER_ADAPTER);

const listed = (names: Iterable<string>): string => [...names].map((name) => `'${name}'`).join(", ");

const PRINCIPAL = `coalesce(e.principal,
  iif(e.channel in (${listed(OWNER_ADAPTERS)}) and e.sender = '${OWNER_PRINCIPAL}', '${OWNER_PRINCIPAL}', ''))`;

/** The sender of an answer is an agent; its reader is the sender of the message. */
const PARTNER = "iif(e.message is null, e.sender, (select c.sender from event c where c.seq = e.cause))";

/** The audience of the event `e`. */
const HEARD = `coalesce(e.audience, (
  select iif(p.kind = 'dm' or e.seq <= p.dm_until or (p.kind is null and p.place = ${PARTNER}), null,
             'room:' || p.channel || iif(p.account = '${DEFAULT_ACCOUNT}', '', '@' || p.account) || ':' || p.place)
  from place p where p.key = e.place and p.channel not in (${listed(OWNER_ADAPTERS)})), ${PRINCIPAL})`;

const ADAPTER = "substr(e.id, 1, instr(e.id, ':') - 1)";

const isPrivateToOthers = (label: string): string =>
  `exists (select 1 from json_each(${label}, '$.private') where coalesce(key, '${OWNER_PRINCIPAL}') <> @audience)`;

/** Conditions on the event `e`; each holds if its parameter is null. */
export const HEARING = `
  (@writtenBy is null or (e.direction = 'received' and ${PRINCIPAL} = @writtenBy
    and ${ADAPTER} not in (${listed(ADAPTERS_OF_AGENTS)})))
  and (@audience is null or (${HEARD} = @audience and ${ADAPTER} not in (${listed(UNHEARD_ADAPTERS)})
    and not ${isPrivateToOthers("e.label")}
    and not ${isPrivateToOthers("(select t.trust from turn t where t.key = e.message / 65536)")}))`;

export interface HearingValues {
  readonly writtenBy: string | null;
  readonly audience: string | null;
}

export const HEARD_COLUMNS = `e.principal, e.label, ${HEARD} as heard`;

export interface HeardRow {
  readonly id: EventId;
  readonly channel: string;
  readonly sender: string | null;
  readonly principal: Principal | null;
  readonly label: string | null;
  readonly heard: string;
  /** Of the turn whose answer it is. */
  readonly trust: string | null;
}

export function principalOf({ principal, id, channel, sender }: HeardRow): Principal {
  return principal ?? principalBefore({ id, channel, sender });
}

/** What reading an event brings into a session. */
export function labelOfEvent(row: HeardRow): Label {
  const principal = principalOf(row);
  const audience = row.heard === "" ? principal : row.heard;
  const own: Label = {
    ...NO_LABEL,
    untrusted: authorsOf(row, audience),
    private: [isOutside(audience) ? audience : OWNER_PRINCIPAL],
  };
  return joinLabels(own, ...[row.label, row.trust].map((stored) => parseTrust(parseJson(stored) as Json)));
}

function authorsOf(row: HeardRow, audience: string): readonly string[] {
  const principal = principalOf(row);
  const { adapter } = splitEventId(row.id);
  if (isRoom(audience)) return [audience];
  if (principal !== OWNER_PRINCIPAL) return [principal];
  // An answer to the owner is as trustworthy as what its turn has read, which the label of the turn says.
  return adapter !== ANSWER_ADAPTER && ADAPTERS_OF_AGENTS.has(adapter) ? [adapter] : [];
}

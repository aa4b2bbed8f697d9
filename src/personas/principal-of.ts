/** On whose authority an event from outside happened. */
import type { Config } from "../config/config.ts";
import {
  guestPrincipal,
  identityOf,
  personPrincipal,
  type Principal,
  principalBefore,
  SOURCE_ADAPTERS,
  sourcePrincipal,
} from "../model/principal.ts";
import type { NewEvent } from "../store/store.ts";
import { authorityOf } from "./authority.ts";

export function principalOfEvent(event: NewEvent, config: Config): Principal {
  const { channel, account, sender } = event;
  if (SOURCE_ADAPTERS.has(channel)) return sourcePrincipal(channel, sender);
  if (sender === undefined) return principalBefore(event);
  const identity = identityOf({ channel, account, sender });
  return authorityOf(event, config) === "paired"
    ? personPrincipal(`${channel}-${sender}`)
    : guestPrincipal(identity);
}

/** What relays need of the rest of Cortex, put together. */
import { join } from "node:path";

import { StrayNotes } from "../agents/process/strays.ts";
import { noticesTo } from "../delivery/address.ts";
import { agentFor } from "../personas/lookup.ts";
import type { EngineParts } from "./engine/engine-parts.ts";
import { scriptRunner } from "./scripts/script.ts";
import { dayStart } from "../model/day.ts";
import type { Ports } from "../feature/ports.ts";

export function relayParts(
  ports: Ports,
  callers: Pick<EngineParts, "extraScripts" | "onEnded">,
): EngineParts {
  const { store, home, clock, mintId, slots, settings, environment, log } = ports;
  const printTime = localTimes();
  return {
    store,
    home,
    clock,
    mintId,
    withSlot: slots.withSlot.bind(slots),
    ...callers,
    localTime: (ms) => printTime(ms, settings.config().timezone),
    agentFor(name, named) {
      const { id, personaId } = agentFor(settings.config(), name, named);
      return { agent: id, persona: personaId };
    },
    run: scriptRunner({
      environment,
      variable: settings.variable,
      strays: new StrayNotes(relayScriptsFile(home), log),
    }),
    usdPerDay: () => settings.config().relay.usdPerDay,
    dayStartMs: () => dayStart(clock(), settings.config().timezone),
    deliver: (delivery, text) => noticesTo(delivery, text, mintId),
    onProblem: (error, id) =>
      log(`${id === undefined ? "Relays go" : `Relay ${id} goes`} on later: ${String(error)}`),
  };
}

/** The scripts of relays that run: what is left of them after a crash is ended before the relays go on. */
export function relayScriptsFile(home: string): string {
  return join(home, "data", "relay-scripts.json");
}

/**
 * Prints moments as `2026-04-16T18:00:00+02:00`. What it needs for a timezone is made once: that takes longer than all else
 * that is done for a prompt.
 */
function localTimes(): (ms: number, timeZone: string) => string {
  let known: { readonly timeZone: string; readonly print: (ms: number) => string } | undefined;
  return (ms, timeZone) => {
    if (known?.timeZone !== timeZone) known = { timeZone, print: isoWithOffset(timeZone) };
    return known.print(ms);
  };
}

function isoWithOffset(timeZone: string): (ms: number) => string {
  const time = new Intl.DateTimeFormat("sv-SE", { timeZone, dateStyle: "short", timeStyle: "medium" });
  const zone = new Intl.DateTimeFormat("en", { timeZone, timeZoneName: "longOffset" });
  return (ms) => {
    const offset = zone.formatToParts(ms).find(({ type }) => type === "timeZoneName")!.value;
    return `${time.format(ms).replace(" ", "T")}${offset === "GMT" ? "Z" : offset.replace("GMT", "")}`;
  };
}

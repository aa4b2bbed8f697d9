/** What relays need of the rest of Cortex, put together. */
import { join } from "node:path";

import { StrayNotes } from "../agents/process/strays.ts";
import { runGroup } from "../programs/run-group.ts";
import { deliveriesOf, parseDelivery } from "../delivery/address.ts";
import { agentFor } from "../personas/lookup.ts";
import type { EngineParts } from "./engine/engine-parts.ts";
import type { RunProgram } from "./scripts/script.ts";
import { dayStart } from "../model/day.ts";
import { childEnvironment, type Variables } from "../programs/environment.ts";
import type { RelaySources } from "./relays.ts";

/** How long a script has between being told to end and being killed. */
const SCRIPT_GRACE_MS = 2_000;
/** How long those that a script left behind have to finish what they write. */
const SCRIPT_DRAIN_MS = 250;

export function relayParts(
  sources: RelaySources,
  callers: Pick<EngineParts, "extraScripts" | "onEnded">,
): EngineParts {
  const { store, home, clock, mintId, withSlot, settings, environment, log } = sources;
  const printTime = localTimes();
  return {
    store,
    home,
    clock,
    mintId,
    withSlot,
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
    deliver(delivery, text) {
      const { channel, place } = parseDelivery(delivery);
      if (channel === undefined || place === undefined) return [];
      return deliveriesOf({ text, source: { channel }, delivery, mintId }).map((each) =>
        Object.assign({ content: text }, each),
      );
    },
    onProblem: (error, id) =>
      log(`${id === undefined ? "Relays go" : `Relay ${id} goes`} on later: ${String(error)}`),
  };
}

/** The scripts of relays that run: what is left of them after a crash is ended before the relays go on. */
export function relayScriptsFile(home: string): string {
  return join(home, "data", "relay-scripts.json");
}

interface ScriptParts {
  readonly environment: Variables;
  /** Looks one up that a script names, in our environment or in `config/.env`. */
  readonly variable: (name: string) => string | undefined;
  /** What Cortex tells the script. */
  readonly told?: Readonly<Record<string, string>>;
  readonly strays: StrayNotes;
}

/** Scripts are the owner's own, and are given the variables that they name. */
export function scriptRunner({ environment, variable, told = {}, strays }: ScriptParts): RunProgram {
  const times = { graceMs: SCRIPT_GRACE_MS, drainMs: SCRIPT_DRAIN_MS };
  return async ({ env, ...program }) => {
    const given = { ...childEnvironment(environment, { names: env, variable }), ...told };
    let begun: number | undefined;
    const onBegun = (group: number): void => {
      begun = group;
      void strays.add(group); // it never rejects, and is done before it is removed
    };
    try {
      return await runGroup({ ...program, ...times, environment: given, onBegun });
    } finally {
      if (begun !== undefined) await strays.remove(begun);
    }
  };
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

/**
 * What every chat channel has to show, against a platform that is played on loopback.
 *
 * Each check opens a Cortex of its own on a new home, as users run it, with the channel as its configuration names it.
 */
import type { Counterpart } from "../channels/kit/counterpart.ts";
import { checkApprovals, checkChanges, checkFiles, checkGroups, checkStrangers } from "./check-in.ts";
import { checkKills, type KillRound } from "./check-kills.ts";
import {
  checkCredentials,
  checkCuts,
  checkDeafTransport,
  checkOneReceiver,
  checkSilence,
} from "./check-life.ts";
import { checkLongAnswer, checkPlaceGone, checkRateLimit, checkUncertainSends } from "./check-out.ts";
import { checkProbe } from "./check-probe.ts";
import { Unmet } from "./expect.ts";
import { type ConformingChannel, openSubject, type Subject } from "./subject.ts";

export type { ConformingChannel };

/** One thing that a channel has to show. */
export interface ConformanceCheck {
  /** A sentence that is true of a channel that passes. */
  readonly name: string;
  /** Undefined: passed. Otherwise what was expected, and what was found. Throws what is no finding. */
  run(): Promise<string | undefined>;
}

export interface ConformanceOptions {
  /** How much comes in while Cortex is killed, and how often. */
  readonly kills?: KillRound;
}

const KILLS: KillRound = { messages: 200, places: 10, kills: 6 };

const CHECKS: Readonly<
  Record<string, (subject: Subject, options: Required<ConformanceOptions>) => Promise<void>>
> = {
  "the probe finds everything there, and names what is wrong with the credentials": checkProbe,
  "each message has one turn, in the order of its place, however often Cortex is killed": (
    subject,
    { kills },
  ) => checkKills(subject, kills),
  "cut connections and slow answers lose nothing": checkCuts,
  "a send that may have arrived is found, repeated or left, as the channel declares": checkUncertainSends,
  "a transport that brings nothing more is stale, and what was missed comes with the next":
    checkDeafTransport,
  "an hour of silence does not end a connection": checkSilence,
  "there is one receiving connection, however often it is replaced": checkOneReceiver,
  "a send waits as long as the platform asks": checkRateLimit,
  "revoked credentials are refused, and said so": checkCredentials,
  "what is sent to a place that is gone is a dead letter": checkPlaceGone,
  "100 KB arrive whole, within the limits, in the right topic": checkLongAnswer,
  "a stranger gets a code and no turn": checkStrangers,
  "in a group, what does not address the account is recorded with its reason": checkGroups,
  "a request is decided once, by the owner": checkApprovals,
  "edits, deletions and reactions are events, and the account's own messages are not": checkChanges,
  "files have a state, and a reason where they have no content": checkFiles,
};

/** The checks of a channel. `start` opens a new counterpart for each. */
export function conformanceChecks(
  channel: ConformingChannel,
  start: () => Promise<Counterpart>,
  { kills = KILLS }: ConformanceOptions = {},
): readonly ConformanceCheck[] {
  return Object.entries(CHECKS).map(([name, check]) => ({
    name,
    async run() {
      try {
        await check(await openSubject(channel, start), { kills });
        return undefined;
      } catch (error) {
        if (error instanceof Unmet) return error.message;
        throw error;
      }
    },
  }));
}

/**
 * @name Flight check-in
 * @description Finds flights in emails from airlines and has the agent remind you of the check-in, once a flight
 * @mode persistent
 * @starts disabled
 */
import type { Filter, HookContext, HookResult } from "cortexd/hooks";

const AIRLINES = ["lufthansa.com", "united.com", "delta.com", "ryanair.com", "easyjet.com", "klm.com"];
const ONCE_IN_MS = 24 * 3_600_000;

/** Cheap, and judged first: a model reads only what looks like a booking. */
export const filter: Filter = {
  channels: ["email"],
  match: "(?i)\\b(check-?in|boarding pass|itinerary|flight (number|confirmation))\\b",
};

interface Flight {
  readonly flight: string | null;
  readonly confirmation: string | null;
  readonly departs: string | null;
}

export default async function ({ event, query, llm, now, hook }: HookContext): Promise<HookResult> {
  const domain = event.sender_id?.split("@").at(-1)?.toLowerCase() ?? "";
  if (!AIRLINES.some((airline) => domain === airline || domain.endsWith(`.${airline}`)))
    return { fire: false };

  const answer = await llm(`Find the next flight in this email.\n\n${event.content}`, {
    system:
      'Answer with JSON: {"flight": "LH123" or null, "confirmation": "ABC123" or null, ' +
      '"departs": "2026-12-01T09:00" or null}',
    json: true,
    maxTokens: 200,
  });
  const { flight, confirmation, departs } = JSON.parse(answer) as Flight;
  if (flight === null || departs === null) return { fire: false };

  // Airlines write often: what this hook has found in the last day is in the ledger.
  const known = await query(
    `select 1 from hook_runs
     where hook_id = ? and fired = 1 and started_at > ?
       and json_extract(result_json, '$.context.extracted.flight') = ?`,
    [hook.id, now.getTime() - ONCE_IN_MS, flight],
  );
  if (known.length > 0) return { fire: false };
  return {
    fire: true,
    routing: { session: "agent:main:cron:flights" },
    context: {
      prompt:
        "A flight was booked. Note when its check-in opens, 24 hours before it departs, and tell the owner.",
      extracted: { flight, confirmation, departs },
    },
  };
}

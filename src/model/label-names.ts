/**
 * The labels of a session by name: `untrusted`, or with whom it concerns, `untrusted: telegram/42`. It names whatever the
 * session's trust holds.
 */
export function labelNames(trust: object): string[] {
  return Object.entries(trust).flatMap(([name, held]: [string, unknown]) => namesOf(name, held));
}

function namesOf(name: string, held: unknown): string[] {
  if (held === true) return [name];
  if (typeof held === "string") return held === "" ? [] : [`${name}: ${held}`];
  if (Array.isArray(held)) return held.flatMap((each) => namesOf(name, each));
  if (typeof held !== "object" || held === null) return [];
  return Object.entries(held).flatMap(([whom, within]: [string, unknown]) =>
    namesOf(`${name}: ${whom}`, within),
  );
}

/** The labels that came since, of text from others. */
export function gainedUntrusted(before: readonly string[], now: readonly string[]): string[] {
  return now.filter((label) => /^untrusted\b/.test(label) && !before.includes(label));
}

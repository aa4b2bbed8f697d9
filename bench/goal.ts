/** What a benchmark has to say: tables for whoever wants to know, and what became of each goal. */
export interface Report {
  /** Markdown. */
  readonly text: string;
  readonly goals: readonly Goal[];
}

export interface Goal {
  readonly what: string;
  /** `under 10 ms`. */
  readonly goal: string;
  /** `4.5 ms`. */
  readonly figure: string;
  /** The peer or the limit that was measured in the same run, with its figure. Empty: there is none. */
  readonly beside: string;
  readonly verdict: "met" | "missed" | "not measured";
}

interface Measured {
  readonly what: string;
  /** Undefined: it could not be measured here. */
  readonly value: number | undefined;
  readonly limit: number;
  /** `ms`, `MB`, `%`, `×`; of what is counted there is none. */
  readonly unit?: string;
  readonly beside?: string;
}

export function under(measured: Measured): Goal {
  return judge(measured, "under", (value) => value < measured.limit);
}

export function atLeast(measured: Measured): Goal {
  return judge(measured, "at least", (value) => value >= measured.limit);
}

/** Neither much more nor much less than before: the value is by how much it has changed. */
export function within(measured: Measured): Goal {
  return judge(measured, "within", (value) => Math.abs(value) <= measured.limit);
}

/** Of something that must never happen. */
export function none({ what, value, beside }: Omit<Measured, "limit" | "unit">): Goal {
  return { ...under({ what, value, limit: 1, beside: beside ?? "" }), goal: "none" };
}

function judge(
  { what, value, limit, unit = "", beside = "" }: Measured,
  relation: string,
  holds: (value: number) => boolean,
): Goal {
  const goal = `${relation} ${written(limit, unit)}`;
  if (value === undefined) return { what, goal, figure: "", beside, verdict: "not measured" };
  return { what, goal, figure: written(value, unit), beside, verdict: holds(value) ? "met" : "missed" };
}

/** With as many digits behind the point as mean something. */
export function written(value: number, unit: string): string {
  const size = Math.abs(value);
  const maximumFractionDigits = size < 1 ? 2 : size < 100 ? 1 : 0;
  const number = value.toLocaleString("en-US", { maximumFractionDigits });
  return unit === "" ? number : `${number}${unit === "×" ? "" : " "}${unit}`;
}

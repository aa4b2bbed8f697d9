/** The lines of briefing and review, in Markdown for chat, terminal and browser. */
import { count } from "../../model/count.ts";
import type { Blocked, InProgress, MemberName, Missing, Totals, Upcoming } from "./facts.ts";

/** Of one list. The total is always shown. */
export const MAX_LINES_LISTED = 20;

/** Empty without lines. */
export function section(heading: string, lines: readonly string[]): string[] {
  if (lines.length === 0) return [];
  const listed = lines.slice(0, MAX_LINES_LISTED).map((line) => `- ${line}`);
  const more = lines.length - listed.length;
  return ["", `## ${heading}`, ...listed, ...(more > 0 ? [`- and ${more} more`] : [])];
}

export function totalsLine({ members, fresh, ready, inProgress }: Totals): string {
  return `${count(members, "member")}, ${fresh} fresh · ${ready} ready · ${inProgress} in progress`;
}

export function missingLine({ member, state, active, ageMs }: Missing): string {
  const tasks = count(active, "active task");
  switch (state) {
    case "down":
      return `${shown(member)} is down: last tick ${formatAge(ageMs ?? 0)} ago, ${tasks}`;
    case "never-started":
      return `${shown(member)} has never started: ${tasks}`;
    case "inactive":
      return `${shown(member)} has left the team with ${tasks}`;
  }
}

export function blockedLine({ member, title, reason, since }: Blocked): string {
  const subject = title === undefined ? shown(member) : `${shown(member)} · ${title}`;
  return `${subject}: ${reason}${since === undefined ? "" : ` (since ${since})`}`;
}

export function inProgressLine({ member, title, started, forMs, progress }: InProgress): string {
  const since = started === undefined ? "" : ` — since ${started}`;
  const age = forMs === undefined ? "" : ` (${formatAge(forMs)})`;
  return `${shown(member)} · ${title}${since}${age}${progress === undefined ? "" : `: ${progress}`}`;
}

export function upcomingLine({ member, ready, titles }: Upcoming): string {
  const more = ready - titles.length;
  return `${shown(member)} · ${ready} ready: ${titles.join("; ")}${more > 0 ? `; and ${more} more` : ""}`;
}

/** The two largest units: `2 d 3 h`, `1 h 27 min`, `12 min`. */
export function formatAge(ms: number): string {
  const minutes = Math.max(0, Math.floor(ms / 60_000));
  const hours = Math.floor(minutes / 60);
  const days = Math.floor(hours / 24);
  if (days > 0) return join(`${days} d`, hours % 24, "h");
  if (hours > 0) return join(`${hours} h`, minutes % 60, "min");
  return `${minutes} min`;
}

export function shown({ name }: MemberName): string {
  return `**${name}**`;
}

function join(large: string, small: number, unit: string): string {
  return small === 0 ? large : `${large} ${small} ${unit}`;
}

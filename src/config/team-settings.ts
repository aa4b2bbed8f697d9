/** The settings of a team and their valid values. */
import { type Problem, quote } from "./problem.ts";

export const MAX_HEARTBEAT_MINUTES = 24 * 60;
/** Instead of a time: no briefing or review. */
const NEVER = "off";

export type TeamKey = keyof typeof TEAM_SETTINGS;

/** Undefined: valid. */
type Check = (text: string) => Pick<Problem, "message" | "hint"> | undefined;

export const TEAM_SETTINGS = {
  team_dir: {
    default: "~/cortex-team",
    check: checkPath,
    about: "Folder shared by agents and people; a relative path starts at the home.",
  },
  heartbeat_minutes: {
    default: "15",
    check: checkMinutes,
    about: `Minutes between members' heartbeats, 1 to ${MAX_HEARTBEAT_MINUTES}.`,
  },
  daily_briefing: {
    default: "09:00",
    check: checkTime,
    about: `Local time of the coordinator's daily briefing, or "${NEVER}".`,
  },
  daily_review: {
    default: "18:00",
    check: checkTime,
    about: `Local time of its daily review and housekeeping, or "${NEVER}".`,
  },
  telegram_chat_id: {
    default: "",
    check: checkChat,
    about: "Telegram chat that gets reports, on the bot of `channels.telegram`. Empty: `admin`, or the log.",
  },
  chief_of_staff_project: {
    default: "",
    check: checkPath,
    about:
      "The coordinator's project. Empty: the team directory; a coordinator run by Cortex then works in the home.",
  },
  adopt: {
    default: "false",
    check: checkSwitch,
    about:
      "Whether Cortex runs members whose notes name no runner. True in a team made by `cortex team init`.",
  },
} as const satisfies Record<string, { default: string; check: Check; about: string }>;

export const TEAM_KEYS = Object.keys(TEAM_SETTINGS) as TeamKey[];

/** `team-dir` of `--team-dir`. */
export function teamFlag(key: TeamKey): string {
  return key.replaceAll("_", "-");
}

export function teamVariable(key: TeamKey): string {
  return `CORTEX_${key.toUpperCase()}`;
}

export function isTeamKey(key: string): key is TeamKey {
  return Object.hasOwn(TEAM_SETTINGS, key);
}

export function isNever(time: string): boolean {
  return time === "" || time === NEVER;
}

function checkPath(text: string): ReturnType<Check> {
  if (!text.includes("\0") && !/^~[^/]/.test(text)) return undefined;
  return { message: `invalid path ${quote(text)}`, hint: "Use a folder path, such as ~/cortex-team." };
}

function checkSwitch(text: string): ReturnType<Check> {
  if (text === "true" || text === "false") return undefined;
  return { message: `expected true or false, got ${quote(text)}`, hint: "Use true or false." };
}

function checkMinutes(text: string): ReturnType<Check> {
  const minutes = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (minutes >= 1 && minutes <= MAX_HEARTBEAT_MINUTES) return undefined;
  return {
    message: `expected 1 to ${MAX_HEARTBEAT_MINUTES} minutes, got ${quote(text)}`,
    hint: "Use a number of minutes, such as 15.",
  };
}

function checkTime(text: string): ReturnType<Check> {
  if (isNever(text) || /^([01]\d|2[0-3]):[0-5]\d$/.test(text)) return undefined;
  return {
    message: `invalid time of day ${quote(text)}`,
    hint: `Use a time such as "09:00", or ${NEVER}.`,
  };
}

/** A number, negative for a group, or the public name of a channel. */
function checkChat(text: string): ReturnType<Check> {
  if (/^(-?\d{1,20}|@\w{1,64}|)$/.test(text)) return undefined;
  return {
    message: `invalid Telegram chat id ${quote(text)}`,
    hint: 'Use its number, such as "123456789" or "-1001234567890", or "" for none.',
  };
}

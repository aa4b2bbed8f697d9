/**
 * The settings of the team: flags, then the environment, then `config.yaml` of the home, then defaults.
 *
 * The names are those of the team protocol, so that its other programs read the same file. From each follow its flag
 * and its variable: `heartbeat_minutes` is `--heartbeat-minutes` and `CORTEX_HEARTBEAT_MINUTES`.
 */
import { join, resolve, sep } from "node:path";
import { mergeEnvironment } from "./environment.ts";
import { type FileText, formatSource, readText } from "./json-file.ts";
import { nearest } from "../model/nearest.ts";
import type { Flags } from "./overrides.ts";
import { configInvalid } from "./problem.ts";
import { configFolder } from "./read.ts";
import { parseTeamConfig, TEAM_CONFIG_FILE } from "./team-config-file.ts";
import {
  isNever,
  isTeamKey,
  TEAM_KEYS,
  TEAM_SETTINGS,
  teamFlag,
  type TeamKey,
  teamVariable,
} from "./team-settings.ts";

export interface TeamConfig {
  /** Absolute, like all paths here. */
  readonly teamDir: string;
  readonly heartbeatMinutes: number;
  /** `09:00`, local time. Undefined: off. */
  readonly dailyBriefing: string | undefined;
  readonly dailyReview: string | undefined;
  /** Undefined: not configured. */
  readonly telegramChatId: string | undefined;
  /** The project of the coordinator: the team directory, unless set. */
  readonly chiefOfStaffProject: string;
  /** Cortex runs members whose notes name no runner. */
  readonly adopt: boolean;
  /** The user's own folder, for paths that start with `~/`. */
  readonly user: string | undefined;
  /** Every setting as written, with its origin: `flag --team-dir`, `config.yaml:3`, `default`. */
  readonly settings: readonly TeamSetting[];
  /** Keys of the file that Cortex does not know. Other programs may use them. */
  readonly foreignKeys: readonly { readonly key: string; readonly source: string }[];
}

export interface TeamSetting {
  readonly key: TeamKey;
  readonly text: string;
  readonly origin: string;
}

/** The sources of the settings of a team. */
export interface TeamLocation {
  readonly home: string;
  /** The variables of the process. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** By name without the dashes: `{ "team-dir": "~/team" }`. Other flags are ignored. */
  readonly flags?: Flags;
  /** The base of relative paths in flags and variables. In the file, the base is the home. */
  readonly workingDir?: string;
}

/** Throws one `config_invalid` that lists all problems. */
export async function readTeamConfig(sources: TeamLocation): Promise<TeamConfig> {
  return loadTeamConfig(sources, await readText(sources.home, TEAM_CONFIG_FILE));
}

/** Like `readTeamConfig`, for a text that is not written yet. */
export async function loadTeamConfig(sources: TeamLocation, file: FileText): Promise<TeamConfig> {
  const env = await readText(configFolder(sources.home), ".env", { isSecret: true });
  const environment = mergeEnvironment(
    sources.environment,
    env !== undefined && "text" in env ? env.text : "",
  );
  const { entries, problems: ofFile } = await parseTeamConfig(file);
  const problems = [...ofFile];
  const written = new Map<TeamKey, SettingValue>();
  const foreignKeys: { key: string; source: string }[] = [];
  for (const { key, text, position } of entries) {
    if (!isTeamKey(key)) {
      const meant = nearest(key, TEAM_KEYS);
      const source = formatSource(TEAM_CONFIG_FILE, position);
      const hint = `Did you mean ${JSON.stringify(meant)}?`;
      if (meant === undefined) foreignKeys.push({ key, source });
      else problems.push({ source, path: key, message: "unknown setting", hint });
    } else if (text !== undefined) {
      const source = formatSource(TEAM_CONFIG_FILE, position);
      written.set(key, { text, source, origin: `${TEAM_CONFIG_FILE}:${position.line}`, from: sources.home });
    }
  }

  const outside = sources.workingDir ?? sources.home;
  const chosen = TEAM_KEYS.map((key) => {
    const flag = sources.flags?.[teamFlag(key)];
    const variable = environment.lookup(teamVariable(key)) || undefined;
    const candidates = [
      given(flag, `flag --${teamFlag(key)}`, outside),
      given(variable, `${environment.originOf(teamVariable(key))} ${teamVariable(key)}`, outside),
      written.get(key),
    ].filter((candidate) => candidate !== undefined);
    for (const { text, source } of candidates) {
      const wrong = TEAM_SETTINGS[key].check(text);
      if (wrong !== undefined) problems.push({ source, path: key, ...wrong });
    }
    return [key, candidates[0] ?? given(TEAM_SETTINGS[key].default, "default", sources.home)!] as const;
  });
  if (problems.length > 0) throw configInvalid(sources.home, problems);

  const user = environment.lookup("HOME") ?? environment.lookup("USERPROFILE");
  return { ...build(new Map(chosen), user), foreignKeys };
}

/** Replaces a leading `~` with the user's folder. */
export function expandPath(path: string, { user, from }: { user: string | undefined; from: string }): string {
  return user !== undefined && /^~(\/|$)/.test(path)
    ? resolve(join(user, path.slice(1)))
    : resolve(from, path);
}

/** Replaces the user's folder with `~`, so that the path is valid on their other machines too. */
export function shortenPath(path: string, user: string | undefined): string {
  if (user === undefined || user === "/" || user === "") return path;
  const own = resolve(user);
  if (path === own) return "~";
  return path.startsWith(own + sep) ? `~/${path.slice(own.length + 1)}` : path;
}

interface SettingValue {
  readonly text: string;
  /** Its position, for error messages. */
  readonly source: string;
  /** Its origin, for listings. */
  readonly origin: string;
  readonly from: string;
}

function given(text: string | undefined, origin: string, from: string): SettingValue | undefined {
  return text === undefined ? undefined : { text, source: origin, origin, from };
}

function build(
  chosen: ReadonlyMap<TeamKey, SettingValue>,
  user: string | undefined,
): Omit<TeamConfig, "foreignKeys"> {
  const textOf = (key: TeamKey): string => chosen.get(key)!.text;
  const pathOf = (key: TeamKey): string =>
    expandPath(textOf(key) || TEAM_SETTINGS[key].default, { user, from: chosen.get(key)!.from });
  const timeOf = (key: TeamKey): string | undefined => (isNever(textOf(key)) ? undefined : textOf(key));
  const teamDir = pathOf("team_dir");
  return {
    teamDir,
    heartbeatMinutes: Number(textOf("heartbeat_minutes")),
    dailyBriefing: timeOf("daily_briefing"),
    dailyReview: timeOf("daily_review"),
    telegramChatId: textOf("telegram_chat_id") || undefined,
    chiefOfStaffProject: textOf("chief_of_staff_project") === "" ? teamDir : pathOf("chief_of_staff_project"),
    adopt: textOf("adopt") === "true",
    user,
    settings: [...chosen].map(([key, { text, origin }]) => ({ key, text, origin })),
  };
}

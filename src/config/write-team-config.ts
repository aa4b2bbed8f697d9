/** Sets settings of the team in `config.yaml`. Comments, order and keys of others stay as they are. */
import { join } from "node:path";
import { CortexError } from "../model/errors.ts";
import { readText } from "./json-file.ts";
import { type Composed, rewriteFile } from "./rewrite-file.ts";
import { loadTeamConfig, type TeamConfig, type TeamLocation } from "./team-config.ts";
import { parseTeamConfig, TEAM_CONFIG_FILE } from "./team-config-file.ts";
import { TEAM_KEYS, type TeamKey } from "./team-settings.ts";

export type TeamValues = Readonly<Partial<Record<TeamKey, string>>>;

/**
 * Gives the configuration as it is then; a flag or variable of `sources` still comes before the file. Throws
 * `config_invalid`, where it would not be valid or is not now, `state_conflict` and `home_unwritable`; nothing is
 * written then.
 */
export async function writeTeamConfig(sources: TeamLocation, values: TeamValues): Promise<TeamConfig> {
  return rewriteFile(join(sources.home, TEAM_CONFIG_FILE), () => compose(sources, values));
}

async function compose(sources: TeamLocation, values: TeamValues): Promise<Composed<TeamConfig>> {
  const file = await readText(sources.home, TEAM_CONFIG_FILE);
  if (file !== undefined) await loadTeamConfig(sources, file); // what is wrong already is to be said as such
  const old = file !== undefined && "text" in file ? file.text : NEW_FILE;
  const text = await setTeamValues(old, values);
  try {
    return { text, result: await loadTeamConfig(sources, { text }) };
  } catch (error) {
    if (!(error instanceof CortexError)) throw error;
    throw new CortexError(
      error.code,
      `${TEAM_CONFIG_FILE} was not written because it would be invalid: ${error.message}`,
      {
        hint: error.hint,
        cause: error,
      },
    );
  }
}

/** Of a text that can be read. */
export async function setTeamValues(text: string, values: TeamValues): Promise<string> {
  const { entries } = await parseTeamConfig({ text });
  const lineEnd = text.includes("\r\n") ? "\r\n" : "\n";
  const places = new Map(entries.map(({ key, range }) => [key, range]));
  const isSet = (key: TeamKey): boolean => values[key] !== undefined;

  let result = text;
  const fromTheEnd = TEAM_KEYS.filter((key) => isSet(key) && places.has(key)).toSorted(
    (a, b) => places.get(b)![0] - places.get(a)![0],
  );
  for (const key of fromTheEnd) {
    const [start, end] = places.get(key)!;
    const value = `${result[start - 1] === ":" ? " " : ""}${format(key, values[key]!)}`;
    result = result.slice(0, start) + value + result.slice(end);
  }
  for (const key of TEAM_KEYS.filter((key) => isSet(key) && !places.has(key))) {
    if (result !== "" && !result.endsWith("\n")) result += lineEnd;
    result += `${key}: ${format(key, values[key]!)}${lineEnd}`;
  }
  return result;
}

const NEW_FILE = `# Team settings. A flag (--team-dir) overrides the environment (CORTEX_TEAM_DIR), which overrides this file.

# Folder shared by agents and people.
team_dir: ~/cortex-team
# Minutes between members' heartbeats.
heartbeat_minutes: 15
# Local times of the coordinator's reports, or off.
daily_briefing: "09:00"
daily_review: "18:00"
# Part of the team protocol; unused for now. Reports go to admin of cortex.json, or to the log.
telegram_chat_id: ""
# The coordinator's project (default: the team directory).
chief_of_staff_project: ""
# Whether Cortex runs members whose notes name no runner.
adopt: false
`;

/** Plain where every reader of YAML takes it for the same text. JSON is YAML, so the rest is quoted as JSON. */
function format(key: TeamKey, value: string): string {
  const isPlain =
    (key === "heartbeat_minutes" && /^\d+$/.test(value)) || key === "adopt" || /^[~/][\w./-]+$/.test(value);
  return isPlain ? value : JSON.stringify(value);
}

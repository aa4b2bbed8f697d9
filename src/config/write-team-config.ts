/** Changes team settings in `config.yaml`. Comments, order and foreign keys stay unchanged. */
import { join } from "node:path";
import { CortexError } from "../model/errors.ts";
import { readText } from "./json-file.ts";
import { type Composed, rewriteFile } from "./rewrite-file.ts";
import { loadTeamConfig, type TeamConfig, type TeamLocation } from "./team-config.ts";
import { parseTeamConfig, TEAM_CONFIG_FILE } from "./team-config-file.ts";
import { TEAM_KEYS, type TeamKey } from "./team-settings.ts";

export type TeamValues = Readonly<Partial<Record<TeamKey, string>>>;

/**
 * Returns the new configuration; flags and variables of `sources` still override the file. Throws `config_invalid` if
 * the file is or would become invalid, `state_conflict` and `home_unwritable`, and then writes nothing.
 */
export async function writeTeamConfig(sources: TeamLocation, values: TeamValues): Promise<TeamConfig> {
  return rewriteFile(join(sources.home, TEAM_CONFIG_FILE), () => compose(sources, values));
}

async function compose(sources: TeamLocation, values: TeamValues): Promise<Composed<TeamConfig>> {
  const file = await readText(sources.home, TEAM_CONFIG_FILE);
  if (file !== undefined) await loadTeamConfig(sources, file); // reports an existing problem as such
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

/** The text must be valid. */
export async function setTeamValues(text: string, values: TeamValues): Promise<string> {
  const { entries } = await parseTeamConfig({ text });
  const lineEnd = text.includes("\r\n") ? "\r\n" : "\n";
  const ranges = new Map(entries.map(({ key, range }) => [key, range]));
  const changes = TEAM_KEYS.flatMap((key) => {
    const value = values[key];
    return value === undefined ? [] : [{ key, value: format(key, value), range: ranges.get(key) ?? END }];
  });

  let result = text;
  // From the end, so that earlier ranges stay valid.
  for (const { value, range } of changes.toSorted((a, b) => b.range[0] - a.range[0])) {
    if (range === END) continue;
    const [start, end] = range;
    result = `${result.slice(0, start)}${result[start - 1] === ":" ? " " : ""}${value}${result.slice(end)}`;
  }
  for (const { key, value, range } of changes) {
    if (range !== END) continue;
    if (result !== "" && !result.endsWith("\n")) result += lineEnd;
    result += `${key}: ${value}${lineEnd}`;
  }
  return result;
}

/** The place of keys that the file does not have. */
const END: readonly [number, number] = [Infinity, Infinity];

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

/** Plain where every YAML reader reads the same text, otherwise quoted as JSON, which is YAML too. */
function format(key: TeamKey, value: string): string {
  const isPlain =
    (key === "heartbeat_minutes" && /^\d+$/.test(value)) || key === "adopt" || /^[~/][\w./-]+$/.test(value);
  return isPlain ? value : JSON.stringify(value);
}

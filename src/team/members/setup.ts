/** Sets up the team of a home, and changes who is in it. All of it works on the files, with a server or without. */
import { existsSync, readdirSync, realpathSync } from "node:fs";
import { join } from "node:path";

import { TEAM_CONFIG_FILE } from "../../config/team-config-file.ts";
import {
  expandPath,
  readTeamConfig,
  shortenPath,
  type TeamConfig,
  type TeamConfigSources,
  type TeamSetting,
} from "../../config/team-config.ts";
import { TEAM_KEYS, teamFlag } from "../../config/team-settings.ts";
import { type TeamValues, writeTeamConfig } from "../../config/write-team-config.ts";
import { CortexError } from "../../model/errors.ts";
import { type AdapterFile, toRuntime, writeAdapter } from "./adapter.ts";
import { type AddedProject, addProject, type NewProject } from "./add-project.ts";
import { importLegacy, type ImportedTeam } from "./import-legacy.ts";
import { type InitedTeam, initTeam } from "./init-team.ts";
import { type Left, leaveTeam } from "./leave-team.ts";
import { memberUnknown } from "./member-files.ts";
import { readNote } from "../markdown/read-note.ts";
import { type NewMember, type Place, type Registered, registerMember } from "./register-member.ts";
import { toSlug } from "../markdown/slug.ts";
import { toStamp } from "../markdown/stamp.ts";
import { TeamFolder } from "../files/team-folder.ts";
import { COORDINATOR } from "../files/team.ts";
import { readConfigured } from "../../config/configured.ts";
import { teamMissing } from "../files/team-missing.ts";

/** By name without the dashes: `team-dir`. */
export const TEAM_FLAGS: readonly string[] = TEAM_KEYS.map(teamFlag);

export interface TeamSetupSources extends TeamConfigSources {
  /** From where relative paths that were typed count. */
  readonly workingDir: string;
}

/**
 * Makes the team directory and `config.yaml`. Settings that a flag names are written there; with no such file yet, those
 * of the environment too, so that the team that was made is the one that is found from now on.
 */
export async function setUpTeam(
  sources: TeamSetupSources,
  { isForeign }: { isForeign?: boolean } = {},
): Promise<
  InitedTeam & { readonly config: TeamConfig; readonly configFile: string; readonly isConfigNew: boolean }
> {
  const config = await readTeamConfig(sources);
  const configFile = join(sources.home, TEAM_CONFIG_FILE);
  const isConfigNew = !existsSync(configFile);
  const { folder, place } = await open(sources, config);
  const inited = await initTeam(folder, {
    ...place,
    coordinatorProject: config.chiefOfStaffProject,
    isForeign,
    environment: sources.environment,
  });
  const isRemembered = ({ origin }: TeamSetting): boolean =>
    origin.startsWith("flag ") || (isConfigNew && origin !== "default");
  const values = valuesOf(config, config.settings.filter(isRemembered));
  if (isConfigNew || Object.keys(values).length > 0) await writeTeamConfig(sources, values);
  return { ...inited, config, configFile, isConfigNew };
}

/** Throws `team_missing`, and what `registerMember` does. */
export async function registerInTeam(sources: TeamSetupSources, member: NewMember): Promise<Registered> {
  const { folder, place } = await openTeam(sources);
  return registerMember(folder, member, place);
}

export async function addTeamProject(sources: TeamSetupSources, project: NewProject): Promise<AddedProject> {
  const { folder, place } = await openTeam(sources);
  return addProject(folder, project, place);
}

/**
 * Without `agent`, the member whose project the working folder is. Throws `team_missing`, `member_unknown`,
 * `request_invalid` where its note names no project, and what `writeAdapter` does.
 */
export async function adaptMember(
  sources: TeamSetupSources,
  { agent, runtime }: { agent?: string | undefined; runtime: string },
): Promise<{ slug: string; project: string; files: readonly AdapterFile[] }> {
  const known = toRuntime(runtime);
  const opened = await openTeam(sources);
  const { config, folder } = opened;
  const slug = agent === undefined ? await memberHere(opened) : toSlug(agent);
  const text = await folder.read(`agents/${slug}/${slug}.md`);
  if (text === undefined) throw memberUnknown(agent ?? slug);
  const note = readNote(text);
  const project = projectOf(note.project, opened);
  if (project === undefined || !existsSync(project)) throw projectMissing(slug, note.project);
  const isCoordinator = slug === COORDINATOR;
  const member = { slug, name: note.name || slug, project, teamRoot: folder.root, isCoordinator };
  return { slug, project, files: await writeAdapter({ runtime: known, member, rhythm: config }) };
}

/** Without `agent`, the member whose project the working folder is. */
export async function leaveOwnTeam(sources: TeamSetupSources, agent?: string): Promise<Left> {
  const opened = await openTeam(sources);
  const { config, folder } = opened;
  return leaveTeam(folder, agent ?? (await memberHere(opened)), { user: config.user });
}

export async function importTeam(sources: TeamSetupSources): Promise<ImportedTeam> {
  const { config, folder, stamp } = await openTeam(sources);
  return importLegacy(folder, { user: config.user, stamp });
}

interface Opened {
  readonly config: TeamConfig;
  readonly folder: TeamFolder;
  readonly place: Place;
  readonly stamp: string;
}

async function openTeam(sources: TeamSetupSources): Promise<Opened> {
  const config = await readTeamConfig(sources);
  if (existsSync(config.teamDir)) return open(sources, config);
  throw teamMissing(config.teamDir);
}

async function open(sources: TeamSetupSources, config: TeamConfig): Promise<Opened> {
  const { home, environment } = sources;
  const { timezone } = (await readConfigured({ home, environment })).config; // which knows no flags of the team
  const stamp = toStamp(Date.now(), timezone);
  const place = { today: stamp.slice(0, 10), user: config.user, workingDir: sources.workingDir };
  return { config, folder: new TeamFolder({ root: config.teamDir, clock: Date.now }), place, stamp };
}

async function memberHere(opened: Opened): Promise<string> {
  const { folder, place } = opened;
  const here = realpathSync(place.workingDir);
  const found: string[] = [];
  const agents = join(folder.root, "agents");
  for (const slug of existsSync(agents) ? readdirSync(agents).toSorted() : []) {
    if (!existsSync(join(agents, slug, `${slug}.md`))) continue;
    const { project } = readNote((await folder.read(`agents/${slug}/${slug}.md`)) ?? "");
    const path = projectOf(project, opened);
    if (path !== undefined && existsSync(path) && realpathSync(path) === here) found.push(slug);
  }
  const [slug] = found;
  if (slug !== undefined && found.length === 1) return slug;
  const who = slug === undefined ? "no member" : `more than one member (${found.join(", ")})`;
  throw new CortexError("request_invalid", `The folder ${here} is the project of ${who}`, {
    hint: "Name the member; `cortex team list` lists them.",
  });
}

function projectOf(written: string | undefined, { config, folder }: Opened): string | undefined {
  return written === undefined ? undefined : expandPath(written, { user: config.user, from: folder.root });
}

/** As they are to stand in the file: there, a relative path would count from elsewhere. */
function valuesOf(config: TeamConfig, settings: readonly TeamSetting[]): TeamValues {
  const paths: Readonly<Record<string, string>> = {
    team_dir: config.teamDir,
    chief_of_staff_project: config.chiefOfStaffProject,
  };
  return Object.fromEntries(
    settings.map(({ key, text }) => {
      const path = text === "" ? undefined : paths[key];
      return [key, path === undefined ? text : shortenPath(path, config.user)];
    }),
  );
}

function projectMissing(slug: string, project: string | undefined): CortexError {
  const message =
    project === undefined
      ? `The note of ${slug} names no project`
      : `The project of ${slug}, ${project}, does not exist`;
  return new CortexError("request_invalid", message, {
    hint: `Correct project: in agents/${slug}/${slug}.md.`,
  });
}

/** Sets up the team of a home, and changes its members. It works on the files, with or without a server. */
import { existsSync, readdirSync, realpathSync } from "node:fs";
import { join } from "node:path";

import { TEAM_CONFIG_FILE } from "../../config/team-config-file.ts";
import {
  expandPath,
  shortenPath,
  type TeamConfig,
  type TeamLocation,
  type TeamSetting,
} from "../../config/team-config.ts";
import { type TeamValues, writeTeamConfig } from "../../config/write-team-config.ts";
import { dateOf } from "../../model/day.ts";
import { CortexError } from "../../model/errors.ts";
import { type AdapterFile, toRuntime, writeAdapter } from "./adapter.ts";
import { type AddedProject, addProject, type NewProject } from "./add-project.ts";
import { importLegacy, type ImportedTeam } from "./import-legacy.ts";
import { type InitedTeam, initTeam } from "./init-team.ts";
import { type Departure, leaveTeam } from "./leave-team.ts";
import { memberUnknown } from "./member-files.ts";
import { readNote } from "../markdown/read-note.ts";
import {
  type NewMember,
  type Registration,
  type RegistrationContext,
  registerMember,
} from "./register-member.ts";
import { toSlug } from "../markdown/slug.ts";
import { toStamp } from "../markdown/stamp.ts";
import { findTeamDirectory, type TeamDirectory } from "../files/team-directory.ts";
import { COORDINATOR, notePathOf } from "../files/team.ts";
import { teamMissing } from "../files/team-errors.ts";

export interface SetupLocation extends TeamLocation {
  /** The base of relative paths on the command line. */
  readonly workingDir: string;
}

/**
 * Creates the team directory and `config.yaml`. Settings given as flags are written there; if the file is new, those from
 * the environment too, so that Cortex finds this team from now on.
 */
export async function setUpTeam(
  location: SetupLocation,
  { isForeign }: { isForeign?: boolean } = {},
): Promise<
  InitedTeam & { readonly config: TeamConfig; readonly configFile: string; readonly isConfigNew: boolean }
> {
  const directory = await findTeamDirectory(location);
  const { config, folder } = directory;
  const configFile = join(location.home, TEAM_CONFIG_FILE);
  const isConfigNew = !existsSync(configFile);
  const inited = await initTeam(folder, {
    ...contextOf(directory, location),
    coordinatorProject: config.chiefOfStaffProject,
    isForeign,
    environment: location.environment,
  });
  const isRemembered = ({ origin }: TeamSetting): boolean =>
    origin.startsWith("flag ") || (isConfigNew && origin !== "default");
  const values = valuesOf(config, config.settings.filter(isRemembered));
  if (isConfigNew || Object.keys(values).length > 0) await writeTeamConfig(location, values);
  return { ...inited, config, configFile, isConfigNew };
}

/** Throws `team_missing`, and what `registerMember` throws. */
export async function registerInTeam(location: SetupLocation, member: NewMember): Promise<Registration> {
  const directory = await openExisting(location);
  return registerMember(directory.folder, member, contextOf(directory, location));
}

export async function addTeamProject(location: SetupLocation, project: NewProject): Promise<AddedProject> {
  const directory = await openExisting(location);
  return addProject(directory.folder, project, contextOf(directory, location));
}

/**
 * Without `agent`, the member whose project is the working folder. Throws `team_missing`, `member_unknown`,
 * `request_invalid` if its note names no project, and what `writeAdapter` throws.
 */
export async function adaptMember(
  location: SetupLocation,
  { agent, runtime }: { agent?: string | undefined; runtime: string },
): Promise<{ slug: string; project: string; files: readonly AdapterFile[] }> {
  const known = toRuntime(runtime);
  const directory = await openExisting(location);
  const { config, folder } = directory;
  const slug = agent === undefined ? await memberHere(directory, location.workingDir) : toSlug(agent);
  const text = await folder.read(notePathOf(slug));
  if (text === undefined) throw memberUnknown(agent ?? slug);
  const note = readNote(text);
  const project = projectOf(note.project, directory);
  if (project === undefined || !existsSync(project)) throw projectMissing(slug, note.project);
  const isCoordinator = slug === COORDINATOR;
  const member = { slug, name: note.name || slug, project, teamRoot: folder.root, isCoordinator };
  return { slug, project, files: await writeAdapter({ runtime: known, member, rhythm: config }) };
}

/** Without `agent`, the member whose project is the working folder. */
export async function leaveOwnTeam(location: SetupLocation, agent?: string): Promise<Departure> {
  const directory = await openExisting(location);
  const { config, folder } = directory;
  const name = agent ?? (await memberHere(directory, location.workingDir));
  return leaveTeam(folder, name, { user: config.user });
}

export async function importTeam(location: SetupLocation): Promise<ImportedTeam> {
  const { config, folder, clock, timezone } = await openExisting(location);
  return importLegacy(folder, { user: config.user, stamp: toStamp(clock(), timezone) });
}

/** Throws `team_missing`. */
async function openExisting(location: SetupLocation): Promise<TeamDirectory> {
  const directory = await findTeamDirectory(location);
  if (!existsSync(directory.root)) throw teamMissing(directory.root);
  return directory;
}

function contextOf(
  { clock, timezone, config }: TeamDirectory,
  { workingDir }: SetupLocation,
): RegistrationContext {
  return { today: dateOf(clock(), timezone), user: config.user, workingDir };
}

async function memberHere(directory: TeamDirectory, workingDir: string): Promise<string> {
  const { folder } = directory;
  const here = realpathSync(workingDir);
  const found: string[] = [];
  const agents = join(folder.root, "agents");
  for (const slug of existsSync(agents) ? readdirSync(agents).toSorted() : []) {
    if (!existsSync(join(folder.root, notePathOf(slug)))) continue;
    const { project } = readNote((await folder.read(notePathOf(slug))) ?? "");
    const path = projectOf(project, directory);
    if (path !== undefined && existsSync(path) && realpathSync(path) === here) found.push(slug);
  }
  const [slug] = found;
  if (slug !== undefined && found.length === 1) return slug;
  const who = slug === undefined ? "no member" : `more than one member (${found.join(", ")})`;
  throw new CortexError("request_invalid", `The folder ${here} is the project of ${who}`, {
    hint: "Pass the member's name; `cortex team list` lists them.",
  });
}

function projectOf(written: string | undefined, { config, root }: TeamDirectory): string | undefined {
  return written === undefined ? undefined : expandPath(written, { user: config.user, from: root });
}

/** Values for the file. Paths are made absolute, because relative ones would have another base there. */
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
    hint: `Correct project: in ${notePathOf(slug)}.`,
  });
}

import type { TeamConfig } from "../config/team-config.ts";
import type { OpenedTeam, TeamSources } from "./open-team.ts";
import { hasTeam, teamMissing } from "./files/team-missing.ts";
import type { Teamwork } from "./teamwork.ts";

/** How long a team directory that is made, or settings that change, can go unnoticed. */
const LOOK_MS = 30_000;

/**
 * A team is opened when its directory is there, because many a Cortex has none. The settings are read anew now and then:
 * the directory may be another one by then.
 */
export function prepareTeam(sources: TeamSources): Teamwork {
  const { home, environment, flags, log } = sources;
  let opened: { readonly key: string; readonly team: OpenedTeam } | undefined;
  let changing: Promise<unknown> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;
  let problem: string | undefined;

  async function readConfig(): Promise<TeamConfig> {
    const { readTeamConfig } = await import("../config/team-config.ts");
    return readTeamConfig({ home, environment, flags, workingDir: process.cwd() });
  }

  /** Undefined: there is no team directory. */
  async function follow(): Promise<OpenedTeam | undefined> {
    const config = await readConfig();
    const isThere = hasTeam(config.teamDir);
    const key = isThere ? JSON.stringify([config, sources.timezone()]) : undefined;
    if (opened?.key === key) return opened?.team;
    const before = opened;
    opened = undefined;
    await before?.team[Symbol.asyncDispose]();
    if (key === undefined || isClosed) return undefined;
    const { openTeam } = await import("./open-team.ts");
    const team = await openTeam(sources, config);
    opened = { key, team };
    return team;
  }

  /** One after the other: two that open it at once would both be at work. */
  function current(): Promise<OpenedTeam | undefined> {
    const mine = changing.catch(() => {}).then(follow); // whoever asked before is told
    changing = mine;
    return mine;
  }

  async function open(): Promise<OpenedTeam> {
    const team = await current();
    if (team === undefined) throw teamMissing((await readConfig()).teamDir);
    return team;
  }

  async function look(): Promise<void> {
    try {
      (await current())?.lookAgain();
      problem = undefined;
    } catch (error) {
      const said = String(error);
      if (said !== problem && !isClosed) log(`The team does not go on for now: ${said}`);
      problem = said;
    }
  }

  return {
    root: async () => (await readConfig()).teamDir,
    async start() {
      await look();
      timer = setInterval(() => void look(), LOOK_MS).unref();
    },
    lookAgain: () => void look(),
    status: async () => (await open()).files.status(),
    dispatch: async (wish, cause) => (await open()).dispatch(wish, cause),
    async adopt(agent) {
      const team = await open();
      const adopted = await team.files.adopt(agent);
      team.lookAgain();
      return adopted;
    },
    briefing: async () => (await open()).files.briefing(),
    review: async () => (await open()).files.review(),
    housekeeping: async () => (await open()).files.housekeeping(),
    async situation() {
      const team = await current().catch(() => undefined); // a turn goes on without it
      if (team === undefined) return undefined;
      const { describeSituation } = await import("./work/duty.ts");
      return describeSituation(await team.files.status());
    },
    register: async (member) => (await open()).register(member),
    tick: async (agent) => (await open()).tick(agent),
    async [Symbol.asyncDispose]() {
      isClosed = true;
      clearInterval(timer);
      await changing.catch(() => {}); // it was told to whoever asked
      await opened?.team[Symbol.asyncDispose]();
    },
  };
}

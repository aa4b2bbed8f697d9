import type { TeamConfig } from "../config/team-config.ts";
import type { OpenFeature } from "../feature/feature.ts";
import type { Situation } from "../turns/turn-ports.ts";
import type { Ports } from "../feature/ports.ts";
import { WakeLoop } from "../model/wake-loop.ts";
import { hasTeam, teamMissing } from "./files/team-errors.ts";
import { parseTeamCommand, TEAM_USAGE, carryOutTeam } from "./surface/chat-commands.ts";
import type { Teamwork } from "./teamwork.ts";

/** How long a new team directory, or a change of its settings, can go unnoticed. */
const LOOK_MS = 30_000;

export function openHomeTeam(ports: Ports): OpenFeature {
  const team = new HomeTeam(ports);
  return {
    api: { team },
    chat: {
      usage: TEAM_USAGE.split("\n"),
      menu: [{ word: "team", about: "What the team is working on" }],
      parse(text) {
        const command = parseTeamCommand(text);
        if (command === undefined) return undefined;
        return {
          access: "owner",
          run: async ({ caller }) => carryOutTeam(command, caller, await team.open()),
        };
      },
    },
    start: () => team.start(),
    configChanged: () => team.lookAgain(),
    situation: () => team.situation(),
    sharedFolder: () => team.root(),
    [Symbol.asyncDispose]: () => team[Symbol.asyncDispose](),
  };
}

/** The team of a home. It is opened while its directory exists, and reopened when its settings change. */
export class HomeTeam implements AsyncDisposable {
  readonly #ports: Ports;
  readonly #loop: WakeLoop;
  #opened: { readonly key: string; readonly team: Teamwork } | undefined;
  #changing: Promise<unknown> = Promise.resolve();
  #isClosed = false;

  constructor(ports: Ports) {
    this.#ports = ports;
    this.#loop = new WakeLoop({
      round: async () => (await this.#current())?.lookAgain(),
      pollMs: LOOK_MS,
      onProblem: (error) => ports.log(`The team is unavailable, retrying: ${String(error)}`),
    });
  }

  /** The team directory, absolute, whether it exists or not. */
  async root(): Promise<string> {
    return (await this.#readConfig()).teamDir;
  }

  /** The team at work. Throws `team_missing` and `config_invalid`. */
  async open(): Promise<Teamwork> {
    const team = await this.#current();
    if (team === undefined) throw teamMissing(await this.root());
    return team;
  }

  /** Resumes what the previous process was working on, and starts the heartbeats. */
  async start(): Promise<void> {
    await this.#current().catch(() => undefined); // the loop retries, and reports it
    this.#loop.start();
  }

  /** Checks the settings and the files now. */
  lookAgain(): void {
    this.#loop.wake();
  }

  /** Members, tasks and projects in Markdown, and whose words these are. Undefined: no team, or it cannot be read now. */
  async situation(): Promise<Situation | undefined> {
    const team = await this.#current().catch(() => undefined); // a turn continues without it
    if (team === undefined) return undefined;
    const { describeSituation } = await import("./work/prompts.ts");
    return { text: describeSituation(await team.status()), label: await team.label() };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    await this.#loop[Symbol.asyncDispose]();
    await this.#changing.catch(() => {}); // reported to its caller
    await this.#opened?.team[Symbol.asyncDispose]();
  }

  /** Serialized: two teams opened at once would both work. */
  #current(): Promise<Teamwork | undefined> {
    const mine = this.#changing.catch(() => {}).then(() => this.#follow()); // reported to its caller
    this.#changing = mine;
    return mine;
  }

  /** Undefined: no team directory. */
  async #follow(): Promise<Teamwork | undefined> {
    const config = await this.#readConfig();
    const key = hasTeam(config.teamDir) ? this.#keyOf(config) : undefined;
    if (this.#opened?.key === key) return this.#opened?.team;
    const before = this.#opened;
    this.#opened = undefined;
    await before?.team[Symbol.asyncDispose]();
    if (key === undefined || this.#isClosed) return undefined;
    const { Teamwork: LoadedTeamwork } = await import("./teamwork.ts");
    const team = await LoadedTeamwork.open(config, this.#ports);
    this.#opened = { key, team };
    return team;
  }

  /** Another key: the team must be opened again. Not asked for without a team, because looking up the time zone takes memory. */
  #keyOf(config: TeamConfig): string {
    return JSON.stringify([config, this.#ports.settings.config().timezone]);
  }

  async #readConfig(): Promise<TeamConfig> {
    const { home, environment, flags } = this.#ports;
    const { readTeamConfig } = await import("../config/team-config.ts");
    return readTeamConfig({ home, environment, flags, workingDir: process.cwd() });
  }
}

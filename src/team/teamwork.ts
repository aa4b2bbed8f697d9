/** A team that Cortex works on: its heartbeats, and the requests of people and agents. */
import { hostname } from "node:os";

import type { TeamConfig } from "../config/team-config.ts";
import { joinLabels, type Label } from "../model/trust.ts";
import type { Ports } from "../feature/ports.ts";
import { dateOf } from "../model/day.ts";
import { isAlive } from "../programs/is-alive.ts";
import { TeamDirectory } from "./files/team-directory.ts";
import { OF_OTHER_PROGRAMS, type Team } from "./files/team.ts";
import { TeamLabels } from "./files/team-labels.ts";
import { watchTeam } from "./files/watch-team.ts";
import { type Adoption, adoptMember } from "./members/adopt-member.ts";
import { type DispatchedTask, dispatchTask, memberOf, type TaskWish } from "./members/dispatch-task.ts";
import { type NewMember, type Registration, registerMember } from "./members/register-member.ts";
import { composeBriefing, composeReview } from "./reports/daily-reports.ts";
import { housekeep, type HousekeepingReport } from "./reports/housekeeping.ts";
import type { TaskOrigin } from "./work/worker.ts";
import { type Beat, Heart } from "./work/heart.ts";
import { giveUpTeam } from "./work/keeper.ts";

export class Teamwork implements AsyncDisposable {
  readonly directory: TeamDirectory;
  readonly labels: TeamLabels;
  readonly #ports: Ports;
  readonly #heart: Heart;
  /** In the order they were opened. */
  readonly #resources = new AsyncDisposableStack();

  private constructor(config: TeamConfig, ports: Ports) {
    const { clock, log, settings, home } = ports;
    const { timezone } = settings.config();
    const labels = new TeamLabels({ root: config.teamDir, home, labels: ports.store.labels });
    const team = new TeamDirectory({ config, timezone, clock, log, labels });
    const keeping = { root: team.root, self: { home, host: hostname(), pid: process.pid }, clock, isAlive };
    const closing = new AbortController();
    this.directory = team;
    this.labels = labels;
    this.#ports = ports;
    this.#resources.defer(() =>
      giveUpTeam(keeping).catch((error: unknown) =>
        log(`Releasing the team failed; it is released later: ${String(error)}`),
      ),
    );
    const place = { ...ports, team, labels, closing: closing.signal, onProblem: problemLog(log) };
    this.#heart = this.#resources.use(new Heart(place, keeping));
    this.#resources.defer(() => closing.abort());
  }

  static async open(config: TeamConfig, ports: Ports): Promise<Teamwork> {
    const team = new Teamwork(config, ports);
    team.#resources.use(await watchTeam(team.directory, () => ports.live.announce("team.changed")));
    await team.#heart.start();
    return team;
  }

  /** The team as its files are now. */
  status(): Promise<Team> {
    return this.directory.read();
  }

  /** Of everything in the files: what agents wrote, and members that other programs run, whose words nobody recorded. */
  async label(): Promise<Label> {
    const [{ members }, label] = await Promise.all([this.status(), this.labels.ofAll()]);
    return members.every(({ isManaged }) => isManaged) ? label : joinLabels(label, OF_OTHER_PROGRAMS);
  }

  /**
   * Adds a ready task to the file of a member. With an origin, an agent does: the event that led to it, and whose words
   * it is made of. Without one, a person does, and it starts a chain of events. Throws `member_unknown`, `state_conflict` for a member who has left, and `request_invalid`.
   */
  async dispatch(wish: TaskWish, origin?: TaskOrigin): Promise<DispatchedTask> {
    if (origin !== undefined) return this.#heart.dispatch(wish, origin);
    return dispatchTask(wish, await this.status(), this.directory.folder);
  }

  /** Has Cortex run a member. Throws `member_unknown`, `state_conflict`. */
  async adopt(agent: string): Promise<Adoption> {
    const adopted = await adoptMember(agent, await this.status(), this.directory.folder);
    this.lookAgain();
    return adopted;
  }

  /** Adds a member to the team. Throws `request_invalid`, `state_conflict`. */
  register(member: NewMember): Promise<Registration> {
    const { root, folder, timezone, config } = this.directory;
    const today = dateOf(this.#ports.clock(), timezone);
    return registerMember(folder, member, { today, user: config.user, workingDir: root });
  }

  async briefing(): Promise<ReturnType<typeof composeBriefing>> {
    return composeBriefing(await this.status());
  }

  async review(): Promise<ReturnType<typeof composeReview>> {
    return composeReview(await this.status());
  }

  async housekeeping(): Promise<HousekeepingReport> {
    const { clock, environment } = this.#ports;
    const { folder, timezone } = this.directory;
    return housekeep(folder, await this.status(), { nowMs: clock(), timezone, environment });
  }

  /** Triggers a heartbeat of one member or of all that Cortex manages. Throws `member_unknown`, `state_conflict`. */
  async tick(agent?: string): Promise<{ readonly members: readonly Beat[] }> {
    const slug = agent === undefined ? undefined : memberOf(agent, await this.status()).slug;
    return { members: await this.#heart.tick(slug) };
  }

  /** Checks now which members are due. */
  lookAgain(): void {
    this.#heart.lookAgain();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#resources.disposeAsync();
  }
}

/** Logs a failure once: the same line every minute would fill the log. */
function problemLog(log: (line: string) => void): (error: unknown, slug: string) => void {
  let last: string | undefined;
  return (error, slug) => {
    const line = `Team member ${slug} failed; retrying later: ${String(error)}`;
    if (line !== last) log(line);
    last = line;
  };
}

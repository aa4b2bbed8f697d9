/** A team that is there, at work: its heartbeats, and a look at its files whenever somebody changes them. */
import { hostname } from "node:os";
import { join } from "node:path";

import type { TeamConfig } from "../config/team-config.ts";
import type { Flags } from "../config/overrides.ts";
import { dateOf } from "../model/day.ts";
import type { DeliveryId, EventId, ItemId, RelayId } from "../model/ids.ts";
import { agentFor } from "../personas/lookup.ts";
import type { DeliveryTarget, Store } from "../store/store.ts";
import { isMarkedAsOurs } from "./files/adoption.ts";
import { type DispatchedTask, memberOf, type TaskWish } from "./members/dispatch-task.ts";
import { Heart, type HeartParts } from "./work/heart.ts";
import { giveUpTeam, keepTeam } from "./work/keeper.ts";
import { type NewMember, type Registered, registerMember } from "./members/register-member.ts";
import type { TeamRelays } from "./work/workplace.ts";
import { askCoordinator } from "./work/tell-owner.ts";
import { isAlive } from "../programs/is-alive.ts";
import { readRelayResult } from "../relay/record/summary.ts";
import type { Relays } from "../relay/relays.ts";
import type { Settings } from "../config/settings.ts";
import type { TickReport } from "./teamwork.ts";
import { type OpenTeamFiles, openTeamFiles } from "./files/team-directory.ts";
import { watchTeam } from "./files/watch-team.ts";

export interface TeamSources extends Pick<HeartParts, "clock" | "mintId" | "withSlot"> {
  readonly home: string;
  readonly store: Store;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly flags: Flags;
  readonly settings: Pick<Settings, "config">;
  readonly timezone: () => string;
  readonly relays: Pick<Relays, "run" | "ended">;
  /** Resolves when a message is settled, or the signal comes first. */
  readonly settled: (item: ItemId, signal: AbortSignal) => Promise<unknown>;
  /** The names of the channels that can send. */
  readonly channels: () => readonly string[];
  readonly log: (line: string) => void;
  /** Tells whoever watches that the files of the team have changed. */
  readonly onChange: () => void;
}

export interface OpenedTeam extends AsyncDisposable {
  readonly files: OpenTeamFiles;
  /** Sees now who is due. */
  lookAgain(): void;
  dispatch(wish: TaskWish, cause?: EventId): Promise<DispatchedTask>;
  tick(agent?: string): Promise<TickReport>;
  register(member: NewMember): Promise<Registered>;
}

export async function openTeam(sources: TeamSources, config: TeamConfig): Promise<OpenedTeam> {
  const { clock, environment, log, store, settings } = sources;
  const timezone = sources.timezone();
  const { user } = config;
  const files = openTeamFiles({
    root: config.teamDir,
    clock,
    timezone,
    heartbeatMinutes: config.heartbeatMinutes,
    adopts: config.adopt,
    user,
    environment,
    log,
  });
  const { folder, root } = files;
  const self = { home: sources.home, host: hostname(), pid: process.pid };
  const keeping = { root, self, clock, isAlive };
  const closing = new AbortController();
  let lastProblem: string | undefined; // every minute the same would fill the log
  const heart = new Heart({
    folder,
    store,
    clock,
    mintId: sources.mintId,
    withSlot: sources.withSlot,
    settled: sources.settled,
    timezone: () => timezone,
    heartbeatMinutes: () => config.heartbeatMinutes,
    user: user ?? root,
    adopts: () => config.adopt || isMarkedAsOurs(root),
    workspaceOf: (slug) => join(sources.home, "workspaces", slug),
    agentFor(slug, project) {
      const { id, personaId } = agentFor(settings.config(), slug, { folder: project });
      return { agent: id, persona: personaId };
    },
    relays: relaysFor(sources),
    readTeam: () => files.status(),
    housekeep: (team) => files.prune(team),
    times: () => ({ briefing: config.dailyBriefing, review: config.dailyReview }),
    tell: (message) => tell(message, sources, config),
    ask: (notices) =>
      askCoordinator(notices, {
        ...sources,
        signal: closing.signal,
        reportsTo: placeOfReports(sources, config),
      }),
    keep: () => keepTeam(keeping),
    onProblem(error, slug) {
      const line = `The team goes on later (${slug}): ${String(error)}`;
      if (line !== lastProblem) log(line);
      lastProblem = line;
    },
  });
  const watch = await watchTeam(files, sources);
  await heart.start();
  return {
    files,
    lookAgain: () => heart.lookAgain(),
    dispatch: (wish, cause) => (cause === undefined ? files.dispatch(wish) : heart.dispatch(wish, cause)),
    async tick(agent) {
      const slug = agent === undefined ? undefined : memberOf(agent, await files.status()).slug;
      return { members: await heart.tick(slug) };
    },
    register: (member) =>
      registerMember(folder, member, { today: dateOf(clock(), timezone), user, workingDir: root }),
    async [Symbol.asyncDispose]() {
      closing.abort();
      await watch[Symbol.asyncDispose]();
      await heart[Symbol.asyncDispose]();
      await giveUpTeam(keeping).catch((error: unknown) => log(`The team is given up late: ${String(error)}`));
    },
  };
}

function relaysFor({ relays, home, store, clock }: TeamSources): TeamRelays {
  return {
    async run({ key, template, message, folder, persona, permissions, hidden, metadata, cause }) {
      const { id } = await relays.run({
        name: template,
        kind: "template",
        message,
        dir: folder,
        channel: "team",
        startedBy: { persona },
        idempotencyKey: `team:${key}`,
        permissions,
        hidden,
        resumes: true,
        metadata: { trigger: "team", ...metadata },
        ...(cause === undefined ? {} : { cause }),
      });
      return id;
    },
    async ended(relay, signal) {
      const record = await relays.ended(relay as RelayId, signal);
      if (record === undefined) return undefined;
      const { text } = (await readRelayResult(relay as RelayId, { home, store })) ?? { text: "" };
      const atMs = record.endedAt === null ? clock() : Date.parse(record.endedAt);
      return { isDone: record.status === "completed", text, atMs };
    },
  };
}

async function tell(
  { id, text }: { readonly id: string; readonly text: string },
  sources: TeamSources,
  config: TeamConfig,
): Promise<void> {
  const target = placeOfReports(sources, config);
  if (target === undefined) sources.log(text.trimEnd());
  else await sources.store.outbox.notify({ id: id as DeliveryId, target, content: text });
}

/** The chat that the team names, else the place that the owner named for such things. Undefined: the log. */
function placeOfReports(
  { settings, channels }: TeamSources,
  { telegramChatId }: TeamConfig,
): DeliveryTarget | undefined {
  const isChat = telegramChatId !== undefined && channels().includes(TELEGRAM);
  return isChat ? { channel: TELEGRAM, place: telegramChatId } : settings.config().admin;
}

const TELEGRAM = "telegram";

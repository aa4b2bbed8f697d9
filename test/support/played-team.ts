/** Members at work on a real store and real files, whose turns the test plays, and who can be cut off at any write. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import type { ItemId } from "../../src/model/ids.ts";
import { readConfigured } from "../../src/config/configured.ts";
import { readTeamConfig } from "../../src/config/team-config.ts";
import type { Store } from "../../src/store/store.ts";
import { Heart } from "../../src/team/work/heart.ts";
import { TeamFolder } from "../../src/team/files/team-folder.ts";
import { TeamDirectory } from "../../src/team/files/team-directory.ts";
import { TeamLabels } from "../../src/team/files/team-labels.ts";
import type { Workplace } from "../../src/team/work/workplace.ts";
import { Workers } from "../../src/team/work/worker.ts";
import { openTestStore } from "./open-store.ts";
import { alice, message, turnFor } from "./sample.ts";
import { temporaryFolder } from "./temporary.ts";

export interface Cut {
  /** Which write of the whole, from 1. */
  readonly write: number;
  readonly when: "before" | "after";
}

/** What a turn comes to, by the prompt that it was given. */
export type Plays = (prompt: string) => { readonly says: string } | { readonly flags: string } | "stopped";

export interface PlayedTeam extends AsyncDisposable {
  readonly store: Store;
  readonly root: string;
  readonly clock: { (): number; advance(ms: number): void };
  /** As another process of Cortex writes to it, at the same time. */
  readonly folder: TeamFolder;
  /** What went wrong that nobody has cut off. */
  readonly problems: readonly unknown[];
  /** How many writes there were so far. */
  readonly writes: number;
  /** What a process works with. */
  place(): Workplace;
  /** A process that works with this, until it is ended. */
  employ(place: Workplace): Workers;
  /** A process: it works until it is cut off, or ended. */
  begin(cut?: Cut): Workers;
  /**
   * A process that lets the team work by itself: who was not looked at for a second of the clock is due. Its turns end with it.
   */
  live(isUnreadable: () => boolean): Heart;
  /** Whether the last process was cut off, or has nothing left to do. */
  isOver(): Promise<boolean>;
  tasks(): string;
  note(): string;
  /** The prompts that turns were asked for with, in their order. */
  asked(): Promise<string[]>;
}

export const MEMBER = "dev";
/** The shortest pause between two looks. */
const HEARTBEAT_MINUTES = 1 / 60;

type Guard = <Arguments extends unknown[], Result>(
  act: (...args: Arguments) => Promise<Result>,
) => (...args: Arguments) => Promise<Result>;

export async function playedTeam(tasks: string, plays: Plays): Promise<PlayedTeam> {
  const folder = temporaryFolder();
  const opened = await openTestStore();
  const { store, clock } = opened;
  const root = join(folder.path, "team");
  mkdirSync(join(folder.path, "workspaces", "project"), { recursive: true });
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  write(
    `agents/${MEMBER}/${MEMBER}.md`,
    `---\nname: ${MEMBER}\nproject: ~/workspaces/project\nstatus: active\nruntime: cortex\n---\n\n## Session Log\nLast session: --\nStatus: registered\n`,
  );
  write(`agents/${MEMBER}/tasks.md`, tasks);
  const tasksNow = (): string => readFileSync(join(root, `agents/${MEMBER}/tasks.md`), "utf8");
  let writes = 0;
  let isCut = false;
  const problems: unknown[] = [];
  let minted = 0;

  const home = folder.path;
  const environment = { HOME: folder.path };
  const { config } = await readConfigured({ home, environment });
  const teamConfig = await readTeamConfig({ home, environment, flags: { "team-dir": root } });

  /** Plays what waits. One at a time, as a broker does for a session. */
  let playing: Promise<void> = Promise.resolve();
  const playAll = (): Promise<void> => (playing = playing.then(() => playWaiting(store, plays)));

  /** `guarded`: what is done around every write. `isGone`: whether the process has ended. */
  function workplace(
    guarded: Guard,
    isGone: () => boolean,
    heartbeatMinutes = teamConfig.heartbeatMinutes,
  ): Workplace {
    const labels = new TeamLabels({ root, home, labels: store.labels });
    const given = { ...teamConfig, heartbeatMinutes };
    const team = new TeamDirectory({ config: given, timezone: "UTC", clock, labels });
    team.folder.editFrom = guarded(team.folder.editFrom.bind(team.folder)); // `edit` is made of it
    const { queue, turns, events, sessions, outbox, relays } = store;
    return {
      team,
      labels,
      home,
      environment,
      store: {
        queue,
        turns,
        events,
        sessions,
        outbox,
        relays,
        team: {
          get: store.team.get.bind(store.team),
          list: store.team.list.bind(store.team),
          keep: guarded(store.team.keep.bind(store.team)),
          order: guarded(store.team.order.bind(store.team)),
        },
      },
      clock,
      mintId: () => `id-${++minted}`,
      settings: { config: () => config },
      slots: { withSlot: async (act) => (await act(undefined)).result },
      log: () => {},
      closing: new AbortController().signal,
      outcomes: {
        async wait(_, signal) {
          if (!signal.aborted && !isGone()) await playAll();
          return undefined;
        },
      },
      apis: {
        get relays(): never {
          throw new Error("There are no relays");
        },
      },
      onProblem: (error) => {
        if (!isGone()) problems.push(error);
      },
    };
  }

  const employ = (place: Workplace): Workers =>
    new Workers(place, { isKept: async () => true, onEnded: () => {} });

  function begin(cut?: Cut): Workers {
    let isGone = false;
    isCut = false;
    /** What is cut off does nothing any more: neither this write nor any later one. */
    const guarded =
      <Arguments extends unknown[], Result>(act: (...args: Arguments) => Promise<Result>) =>
      async (...args: Arguments): Promise<Result> => {
        if (isGone) throw new Error("cut off");
        writes += 1;
        const isMoment = writes === cut?.write;
        if (isMoment && cut.when === "before") {
          isCut = isGone = true;
          throw new Error("cut off");
        }
        const result = await act(...args);
        if (isMoment) {
          isCut = isGone = true;
          throw new Error("cut off");
        }
        return result;
      };
    return employ(workplace(guarded, () => isGone));
  }

  function live(isUnreadable: () => boolean): Heart {
    const place = workplace(
      (act) => act,
      () => false,
      HEARTBEAT_MINUTES,
    );
    const { team } = place;
    const read = team.read.bind(team);
    team.read = async () => {
      if (isUnreadable()) throw new Error("The directory cannot be read");
      return read();
    };
    const outcomes = {
      wait: (_: ItemId, signal: AbortSignal) =>
        new Promise<undefined>((resolve) => signal.addEventListener("abort", () => resolve(undefined))),
    };
    const self = { home, host: "here", pid: process.pid };
    return new Heart({ ...place, outcomes }, { root, self, clock, isAlive: () => true });
  }

  return {
    store,
    root,
    clock,
    folder: new TeamFolder({ root, clock }),
    problems,
    get writes() {
      return writes;
    },
    place: () =>
      workplace(
        (act) => act,
        () => false,
      ),
    employ,
    begin,
    live,
    async isOver() {
      const { state } = (await store.team.get(root, MEMBER)) ?? {};
      const isIdle = (state as { work?: unknown } | undefined)?.work === undefined;
      if (problems.length > 0) throw problems[0];
      return isCut || (isIdle && !tasksNow().includes("**Status:** ready"));
    },
    tasks: tasksNow,
    note: () => readFileSync(join(root, `agents/${MEMBER}/${MEMBER}.md`), "utf8"),
    async asked() {
      const { items } = await store.events.list({ limit: 100 });
      const ours = items.filter(({ id }) => id.startsWith("team:"));
      return ours.toReversed().map(({ content }) => content!);
    },
    async [Symbol.asyncDispose]() {
      await opened[Symbol.asyncDispose]();
      folder[Symbol.dispose]();
    },
  };
}

async function playWaiting(store: Store, plays: Plays): Promise<void> {
  for (const claim of await store.queue.lease(alice, 10)) {
    const [item] = await store.queue.itemsOf(claim.turn);
    const played = plays(item!.event.content ?? "");
    const [says, flags] =
      played === "stopped"
        ? ["", undefined]
        : "says" in played
          ? [played.says, undefined]
          : ["sorry", played.flags];
    const flag = {
      ordinal: 0,
      callId: "flag",
      tool: "flag_task",
      params: { reason: flags ?? "" },
      status: "ok" as const,
      result: { text: "ok" },
      startedAtMs: 1,
      completedAtMs: 2,
    };
    const messages = [message(`q-${claim.turn}`, "user", "go"), message(claim.turn, "assistant", says)];
    const status = played === "stopped" ? "aborted" : "completed";
    await store.turns.commit(
      turnFor(claim, { status, messages, toolCalls: flags === undefined ? [] : [flag] }),
    );
  }
}

import type { Exchange } from "../agents/agent.ts";
import type { Config } from "../config/config.ts";
import type { Profile } from "../model/profile.ts";
import type { Tool } from "../model/tool.ts";
import { lookUp, type Setup } from "../personas/lookup.ts";
import { allowsTool } from "../personas/permissions.ts";
import type { Claim, Context, Journal, QueueItem, Store } from "../store/store.ts";
import { chooseProfile, fallbackChain } from "./choose-profile.ts";
import type { CoolDowns } from "./cool-downs.ts";
import { healthFor } from "./fall-back.ts";
import { TurnJournal, type Pinned } from "./journal.ts";
import { toQuery } from "./query.ts";
import { systemPrompt } from "./system-prompt.ts";
import { historyOf, readThread } from "./thread.ts";

export interface PrepareParts {
  readonly store: Store;
  readonly config: () => Config;
  /** A profile by its name, `__active__` included. */
  readonly profile: (name: string) => Profile;
  readonly coolDowns: CoolDowns;
  readonly tools: () => readonly Tool[];
  /** The folders of an agent, which are made where they do not exist. */
  readonly folders: (setup: Setup) => Promise<Folders>;
}

export interface Folders {
  readonly workspace: string;
  readonly roots: readonly string[];
  readonly outputFolder: string;
}

/** Everything that one run works with. */
export interface Work {
  readonly claim: Claim;
  readonly setup: Setup;
  readonly folders: Folders;
  /** The one that this run uses. */
  readonly profile: Profile;
  /** The one that was wished for, and all that it can fall back on. */
  readonly candidates: readonly Profile[];
  readonly tools: ReadonlyMap<string, Tool>;
  readonly system: string;
  readonly thread: Context;
  readonly history: readonly Exchange[];
  readonly journal: TurnJournal;
  /** The messages that the turn answers; those that join it on the way are added. */
  readonly items: QueueItem[];
}

/** Reads what a run works with. A run that is taken up again gets what the first one was started with. */
export async function prepareRun(claim: Claim, parts: PrepareParts): Promise<Work> {
  const { store } = parts;
  const config = parts.config();
  const [session, items, before, thread] = await Promise.all([
    store.sessions.get(claim.lease.session),
    store.queue.itemsOf(claim.turn),
    claim.journalled ? store.runs.readJournal(claim.run) : undefined,
    readThread(claim.parent, store),
  ]);
  const setup = lookUp(config, session!.agent, session!.persona);
  const folders = await parts.folders(setup);
  const pinned = before?.pinned as Pinned | undefined;

  const allowed = parts.tools().filter(({ name }) => allowsTool(setup, name));
  const tools = pinned === undefined ? allowed : allowed.filter(({ name }) => pinned.tools.includes(name));
  const wished = parts.profile(
    pinned?.profile ?? wishedProfile(items, session!.settings) ?? setup.agent.profile,
  );
  const candidates = fallbackChain(wished, parts.profile);
  const profile = chooseProfile(candidates, healthFor(claim.turn, parts.coolDowns));
  const system = pinned?.system ?? (await systemPrompt(setup, folders.workspace, tools));
  // A run that has only compacted its thread has got on, and has no message in its journal.
  const written = before?.messages.length ?? 0;
  const journal = new TurnJournal({
    store,
    claim,
    pinned: pinned ?? { system, tools: tools.map(({ name }) => name), profile: wished.name },
    messages: written > 0 ? before!.messages : items.map((item) => toQuery(item, config.timezone)),
    toolCalls: before?.toolCalls ?? [],
    written,
  });
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  const history = historyOf(thread);
  return {
    claim,
    setup,
    folders,
    profile,
    candidates,
    tools: byName,
    system,
    thread,
    history,
    journal,
    items,
  };
}

/** The message's own wish, else the session's. */
function wishedProfile(items: readonly QueueItem[], settings: Journal["pinned"]): string | undefined {
  const wished = items
    .flatMap(({ dispatches }) => dispatches)
    .find(({ profile }) => profile !== undefined)?.profile;
  return wished ?? (settings as { profile?: string } | undefined)?.profile;
}

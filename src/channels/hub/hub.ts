/** All accounts of all chat channels of a running Cortex: connected as the configuration says, each by its own link. */
import { randomInt } from "node:crypto";

import { prettifyError } from "zod";

import { ownSettings } from "../../config/channel-plugins.ts";
import { chatAccounts, type ChatAccount, conversationOn } from "../../config/channel-accounts.ts";
import type { OpenFeature } from "../../feature/feature.ts";
import type { Ports } from "../../feature/ports.ts";
import { CortexError, errorText } from "../../model/errors.ts";
import { DEFAULT_ACCOUNT } from "../../model/ids.ts";
import { WakeLoop } from "../../model/wake-loop.ts";
import type { Actor, PairAs, StoredPerson } from "../../store/store.ts";
import {
  type Address,
  type Capabilities,
  CHANNEL_API,
  type ChannelModule,
  type ChannelPorts,
} from "../channel.ts";
import type { Outlet } from "../outlet.ts";
import { openPlugin } from "../plugins/open-plugin.ts";
import { readAttachment } from "../../intake/attachments.ts";
import { toReceived } from "./inbound.ts";
import { type Batch, Link, type LinkStatus } from "./link.ts";
import { closedOutlet, linkOutlet } from "./link-outlet.ts";
import { openTyping } from "./typing.ts";
import { pair } from "./pair.ts";

export interface AccountStatus extends LinkStatus {
  readonly channel: string;
  readonly account: string;
}

/** How often links are looked at: for what is dead, and for what is due again. */
const LOOK_MS = 1_000;
/** Places that are asked for missed messages: those that were used last. */
const MAX_BACKFILLED_PLACES = 200;

interface Connected {
  readonly key: string;
  readonly account: ChatAccount;
  readonly can: Capabilities;
  readonly link: Link;
  readonly outlet: Outlet;
}

export class Hub implements OpenFeature {
  readonly #ports: Ports;
  #accounts: readonly Connected[] = [];
  #isOpen = false;
  #changing: Promise<void> = Promise.resolve();
  readonly #looking: WakeLoop;
  readonly #typing: WakeLoop;

  constructor(ports: Ports) {
    this.#ports = ports;
    this.#looking = new WakeLoop({
      round: async () => {
        for (const { link } of this.#accounts) link.look();
      },
      pollMs: LOOK_MS,
    });
    this.#typing = openTyping({ store: ports.store, typist: (to) => this.#typist(to) });
  }

  get api(): { readonly channels: Hub } {
    return { channels: this };
  }

  /** The state of each configured account. */
  list(): readonly AccountStatus[] {
    return this.#accounts.map(({ account: { channel, account }, link }) => ({
      channel,
      account,
      ...link.status,
    }));
  }

  /** Looks at all links now. Optional: this also happens by itself. */
  async look(): Promise<void> {
    await this.#changing;
    await this.#looking.settle();
  }

  /** Connects the accounts of a channel again at once. Throws `channel_unknown`. */
  reconnect(channel: string): void {
    const accounts = this.#accounts.filter(({ account }) => account.channel === channel);
    if (accounts.length === 0) throw channelUnknown(channel, this.outletNames());
    for (const { link } of accounts) link.reconnect();
  }

  /** Lets in who was given a code. Throws `pairing_unknown`, and what changing people throws. */
  pair(code: string, as: PairAs, by: Actor): Promise<StoredPerson> {
    return pair(code, as, { ...this.#ports, by });
  }

  async start(): Promise<void> {
    this.#isOpen = true;
    this.configChanged();
    await this.#changing;
    this.#looking.start();
    if (this.#accounts.length > 0) this.#typing.start();
  }

  configChanged(): void {
    this.#changing = this.#changing.then(() => this.#change());
  }

  outlet(channel: string, account: string): Outlet | undefined {
    const connected = this.#accounts.find(isAccount(channel, account));
    if (connected !== undefined) return connected.outlet;
    // It is not open yet, or disabled: what waits for it goes on waiting.
    const isConfigured = conversationOn(this.#ports.settings.config(), { channel, account }) !== undefined;
    return isConfigured ? closedOutlet(channel) : undefined;
  }

  outletNames(): readonly string[] {
    return [...new Set(this.#accounts.map(({ account }) => account.channel))];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOpen = false;
    await Promise.all([this.#looking[Symbol.asyncDispose](), this.#typing[Symbol.asyncDispose]()]);
    await this.#changing;
    await Promise.all(this.#accounts.map(({ link }) => link[Symbol.asyncDispose]()));
  }

  #typist(to: Address) {
    const found = this.#accounts.find(isAccount(to.channel, to.account ?? DEFAULT_ACCOUNT));
    const { typingMs: lastsMs } = found?.can ?? {};
    const connection = found?.link.isLive === true ? found.link.connection : undefined;
    if (lastsMs === undefined || connection?.typing === undefined) return undefined;
    return { lastsMs, show: async () => connection.typing?.(to, AbortSignal.timeout(lastsMs)) };
  }

  /** Opens what is new, and closes what is gone or configured otherwise. */
  async #change(): Promise<void> {
    if (!this.#isOpen) return;
    const { settings, log } = this.#ports;
    const wanted = chatAccounts(settings.config()).filter(({ settings: { enabled } }) => enabled);
    const byKey = new Map(wanted.map((account) => [JSON.stringify(account), account]));
    const kept = this.#accounts.filter(({ key }) => byKey.delete(key));
    const gone = this.#accounts.filter((account) => !kept.includes(account));
    const opened: Connected[] = [];
    for (const [key, account] of byKey) {
      try {
        opened.push(await this.#open(key, account));
      } catch (error) {
        if (!(error instanceof CortexError) && account.plugin === undefined) throw error;
        const hint = error instanceof CortexError ? `. ${error.hint}` : "";
        log(`Cannot open the channel ${account.channel}: ${errorText(error)}${hint}`);
      }
    }
    this.#accounts = [...kept, ...opened];
    await Promise.all(gone.map(({ link }) => link[Symbol.asyncDispose]()));
    this.#looking.wake();
  }

  async #open(key: string, account: ChatAccount): Promise<Connected> {
    const { store: ledger, clock, log, live } = this.#ports;
    const module = await this.#module(account);
    const settings = settingsOf(account, module);
    const { channel } = account;
    const source = `channel:${channel}@${account.account}`;
    const named = account.account === DEFAULT_ACCOUNT ? channel : `${channel} (${account.account})`;
    // One at a time, so that the cursor of a connection that was replaced is never stored last.
    let committing: Promise<void> = Promise.resolve();
    const store = (batch: Batch): Promise<void> => this.#store(batch, account, source);
    const link = new Link({
      module,
      open: () => module.open(settings, this.#channelPorts(account)),
      readCursor: () => ledger.cursors.get(source),
      knownPlaces: () => ledger.events.newestMessages(account, MAX_BACKFILLED_PLACES),
      commit(batch) {
        const stored = committing.then(() => store(batch));
        committing = stored.catch(() => {}); // whoever commits is told
        return stored;
      },
      clock,
      random: () => randomInt(1_000) / 1_000,
      log: (line) => log(`Channel ${named}: ${line}`),
      onChange: () => live.announce("config.changed"),
    });
    return { key, account, can: module.can, link, outlet: linkOutlet(module, link) };
  }

  #store(
    { events, cursor, connection, requireCurrent }: Batch,
    account: ChatAccount,
    source: string,
  ): Promise<void> {
    const received = events.flatMap((inbound) => toReceived(inbound, account, connection) ?? []);
    const read = { cursor: cursor === undefined ? undefined : { source, value: cursor }, requireCurrent };
    return this.#ports.acceptAll(received, read);
  }

  async #module({ channel, plugin }: ChatAccount): Promise<ChannelModule> {
    if (plugin !== undefined) return openPlugin(channel, plugin, this.#ports);
    const load = this.#ports.channelModules.get(channel);
    if (load === undefined) throw channelUnknown(channel, [...this.#ports.channelModules.keys()]);
    const module = await load();
    if (module.api !== CHANNEL_API) throw versionUnknown(channel, module.api);
    return module;
  }

  #channelPorts({ account }: ChatAccount): ChannelPorts {
    const { settings, clock, log, home } = this.#ports;
    return {
      account,
      readFile: (sha256) => readAttachment(sha256, home),
      secret: (name) => {
        const value = settings.variable(name);
        if (value === undefined || value === "") throw secretMissing(name);
        return value;
      },
      fetch,
      clock,
      log,
    };
  }
}

/** Those of a plugin are checked by it, and without what the core reads of them. */
function settingsOf(
  { channel, settings, plugin }: ChatAccount,
  { settings: schema }: ChannelModule,
): unknown {
  if (plugin === undefined) return settings;
  const { data, error } = schema.safeParse(ownSettings(settings));
  if (error === undefined) return data;
  throw new CortexError(
    "config_invalid",
    `Invalid settings of the channel ${channel}: ${prettifyError(error)}`,
    {
      hint: "See the documentation of its plugin.",
    },
  );
}

function isAccount(channel: string, account: string): (connected: Connected) => boolean {
  return (connected) => connected.account.channel === channel && connected.account.account === account;
}

function channelUnknown(channel: string, known: readonly string[]): CortexError {
  return new CortexError("channel_unknown", `Unknown channel "${channel}"`, {
    hint:
      known.length === 0
        ? "No chat channels are configured; docs/channels.md shows how."
        : `Channels: ${known.join(", ")}.`,
  });
}

function versionUnknown(channel: string, version: unknown): CortexError {
  return new CortexError(
    "channel_unknown",
    `The channel "${channel}" has version ${String(version)} of the port`,
    {
      hint: `This Cortex supports version ${CHANNEL_API}. Install a matching version of the channel.`,
    },
  );
}

function secretMissing(name: string): CortexError {
  return new CortexError("credentials_missing", `${name} is not set`, {
    hint: `Set ${name} in config/.env or in the environment of Cortex.`,
  });
}

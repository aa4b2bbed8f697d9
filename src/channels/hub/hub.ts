/** All accounts of all chat channels of a running Cortex: connected as the configuration says, each by its own link. */
import { createHash, randomInt } from "node:crypto";

import { prettifyError } from "zod";

import { ownSettings } from "../../config/channel-plugins.ts";
import { chatAccounts, type ChatAccount, conversationOn } from "../../config/channel-accounts.ts";
import type { Settings } from "../../config/settings.ts";
import { variablesOf } from "../../config/unset-variables.ts";
import type { OpenFeature } from "../../feature/feature.ts";
import type { Ports } from "../../feature/ports.ts";
import { accountName } from "../../model/account-name.ts";
import { CortexError, errorText } from "../../model/errors.ts";
import { DEFAULT_ACCOUNT } from "../../model/ids.ts";
import { WakeLoop } from "../../model/wake-loop.ts";
import type { Actor, PairAs, StoredPerson } from "../../store/store.ts";
import type { Address, Capabilities, ChannelModule, ChannelPorts, PlatformReply } from "../channel.ts";
import type { Outlet } from "../outlet.ts";
import { openPlugin } from "../plugins/open-plugin.ts";
import { channelPortsOf } from "./channel-ports.ts";
import { toReceived } from "./inbound.ts";
import type { AccountFindings, AccountStatus } from "./account-status.ts";
import { type Batch, Link } from "./link.ts";
import { Drafts } from "./drafts.ts";
import { closedOutlet, linkOutlet } from "./link-outlet.ts";
import { channelUnknown, loadModule } from "./modules.ts";
import { openMenu } from "./menu.ts";
import { Outages } from "./outages.ts";
import { openTyping } from "./typing.ts";
import { pair } from "./pair.ts";
import { probeAccount } from "./probe.ts";
import { type ArrivingRequest, PlatformRequests, unavailable } from "./requests.ts";
import { unpair } from "./unpair.ts";

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
  readonly requests: PlatformRequests;
}

export class Hub implements OpenFeature {
  readonly #ports: Ports;
  #accounts: readonly Connected[] = [];
  #isOpen = false;
  #isStarted = false;
  #isShowing = false;
  #changing: Promise<void> = Promise.resolve();
  readonly #looking: WakeLoop;
  readonly #typing: WakeLoop;
  readonly #outages: Outages;
  readonly #drafts: Drafts;

  constructor(ports: Ports) {
    this.#ports = ports;
    this.#outages = new Outages({
      ...ports,
      admin: () => ports.settings.config().admin,
      isLive: (channel, account) => this.#isLive(channel, account),
    });
    this.#looking = new WakeLoop({
      round: async () => {
        for (const { link } of this.#accounts) link.look();
        await this.#outages.look(this.list());
      },
      pollMs: LOOK_MS,
    });
    this.#typing = openTyping({ store: ports.store, typist: (to) => this.#typist(to) });
    this.#drafts = new Drafts({ ...ports, wayTo: (to) => this.#draftWay(to) });
  }

  get api(): { readonly channels: Hub } {
    return { channels: this };
  }

  /** The state of each configured account. */
  list(): readonly AccountStatus[] {
    return this.#accounts.map(({ account: { channel, account }, can: { ack }, link }) => ({
      channel,
      account,
      ack,
      ...link.status,
    }));
  }

  /** Looks at all links now. Optional: this also happens by itself. */
  async look(): Promise<void> {
    await this.#changing;
    await this.#looking.settle();
  }

  /** Connects the accounts of a channel, or one of them, again at once, as the files say now. Throws `channel_unknown`. */
  async reconnect(channel: string, account?: string): Promise<void> {
    const before = this.#accounts;
    await this.#ports.settings.reload();
    await this.#changing;
    const isMeant = isOneOf(channel, account);
    const accounts = this.#accounts.filter(isMeant);
    if (accounts.length === 0) throw channelUnknown(channel, this.outletNames(), account);
    for (const connected of accounts) if (before.includes(connected)) connected.link.reconnect();
    this.#looking.wake();
  }

  /** Asks the platform about the accounts of a channel, or one of them. Throws `channel_unknown`. */
  async test(channel: string, account?: string): Promise<AccountFindings[]> {
    await this.#ports.settings.reload();
    const all = chatAccounts(this.#ports.settings.config());
    const meant = all.filter((each) => isOneOf(channel, account)({ account: each }));
    if (meant.length === 0) throw channelUnknown(channel, namesOf(all), account);
    const module = await this.#module(meant[0]!);
    return Promise.all(
      meant.map(async (each) => ({
        channel,
        account: each.account,
        findings: await probeAccount(module, givenSettings(each), this.#channelPorts(each)),
      })),
    );
  }

  /** What a platform sends to an account by HTTP. Throws `channel_unknown`, and as `PlatformRequests.take`. */
  async handle(channel: string, account: string, request: ArrivingRequest): Promise<PlatformReply> {
    const connected = this.#accounts.find(isAccount(channel, account));
    if (connected === undefined) {
      const conversation = conversationOn(this.#ports.settings.config(), { channel, account });
      if (conversation?.enabled !== true) throw takesNothing(channel, account);
      throw unavailable("is not connected");
    }
    const reply = await connected.requests.take(request);
    if (reply === undefined) throw takesNothing(channel, account);
    return reply;
  }

  /** Takes an identity away from its person. Throws `person_unknown`, and what changing people throws. */
  unpair(identity: string, by: Actor): Promise<StoredPerson> {
    return unpair(identity, by, this.#ports.store);
  }

  /** Lets in who was given a code. Throws `pairing_unknown`, and what changing people throws. */
  pair(code: string, as: PairAs, by: Actor): Promise<StoredPerson> {
    return pair(code, as, { ...this.#ports, by });
  }

  /** Before turns run, which ask what a channel can. Connecting begins later. */
  async recover(): Promise<void> {
    this.#isOpen = true;
    this.configChanged();
    await this.#changing;
  }

  start(): void {
    this.#isStarted = true;
    this.#looking.start();
    this.#showWriting();
  }

  /** Begins with the first account: without one, there is nobody to show it to. */
  #showWriting(): void {
    if (!this.#isStarted || this.#isShowing || this.#accounts.length === 0) return;
    this.#isShowing = true;
    this.#typing.start();
    this.#drafts.start();
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
    const loops = [this.#looking, this.#typing, this.#drafts];
    await Promise.all(loops.map((loop) => loop[Symbol.asyncDispose]()));
    await this.#changing;
    await Promise.all(this.#accounts.map(({ link }) => link[Symbol.asyncDispose]()));
  }

  #isLive(channel: string, account: string): boolean {
    const connected = this.#accounts.find(isAccount(channel, account));
    if (connected !== undefined) return connected.link.isLive;
    const isChat = this.#ports.channelModules.has(channel);
    return !isChat && this.#ports.channels().includes(channel);
  }

  #typist(to: Address) {
    const found = this.#accounts.find(isAccount(to.channel, to.account ?? DEFAULT_ACCOUNT));
    const { typingMs: lastsMs } = found?.can ?? {};
    const connection = found?.link.isLive === true ? found.link.connection : undefined;
    if (lastsMs === undefined || connection?.typing === undefined) return undefined;
    return { lastsMs, show: async () => connection.typing?.(to, AbortSignal.timeout(lastsMs)) };
  }

  #draftWay(to: Address) {
    const found = this.#accounts.find(isAccount(to.channel, to.account ?? DEFAULT_ACCOUNT));
    const connection = found?.link.isLive === true ? found.link.connection : undefined;
    if (found === undefined || connection === undefined) return undefined;
    const render = (markdown: string): string | undefined => {
      for (const wire of found.outlet.render(markdown)) if (wire !== undefined) return wire;
      return undefined;
    };
    return { isOn: found.account.settings.draft, can: found.can, connection, render };
  }

  /** Opens what is new, and closes what is gone or configured otherwise. */
  async #change(): Promise<void> {
    if (!this.#isOpen) return;
    const { settings, log } = this.#ports;
    const wanted = chatAccounts(settings.config()).filter(({ settings: { enabled } }) => enabled);
    const byKey = new Map(wanted.map((account) => [keyOf(account, settings), account]));
    const kept = this.#accounts.filter(({ key }) => byKey.delete(key));
    // What was missing may be there now, whatever it was.
    for (const { link } of kept) if (link.status.state === "refused") link.reconnect();
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
    if (this.#isStarted) this.#looking.wake();
    this.#showWriting();
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
    const tell = (line: string): void => log(`Channel ${named}: ${line}`);
    const showMenu = openMenu({ chats: this.#ports.chats, log: tell });
    const link: Link = new Link({
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
      log: tell,
      onChange: ({ state }) => {
        live.announce("config.changed");
        this.#looking.wake();
        if (state === "live") showMenu(link.connection);
      },
    });
    const requests = new PlatformRequests(link, tell);
    const outlet = linkOutlet(module, link, this.#drafts);
    return { key, account, can: module.can, link, outlet, requests };
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
    return loadModule(channel, this.#ports.channelModules);
  }

  #channelPorts(account: ChatAccount): ChannelPorts {
    const { settings, ...ports } = this.#ports;
    return channelPortsOf(account, {
      ...ports,
      variable: settings.variable,
      publicUrl: settings.config().server.publicUrl,
    });
  }
}

/** The same for the same settings and secrets: what uses a secret that was replaced is opened anew. */
function keyOf(account: ChatAccount, { variable, config }: Pick<Settings, "variable" | "config">): string {
  const secrets = variablesOf(account).map(({ variable: name }) => [name, variable(name) ?? null]);
  return createHash("sha256")
    .update(JSON.stringify([account, secrets, config().server.publicUrl ?? null]))
    .digest("hex");
}

/** Those of a plugin are without what the core reads of them. */
function givenSettings({ settings, plugin }: ChatAccount): unknown {
  return plugin === undefined ? settings : ownSettings(settings);
}

/** Those of a plugin are checked by it. */
function settingsOf(account: ChatAccount, { settings: schema }: ChannelModule): unknown {
  const settings = givenSettings(account);
  if (account.plugin === undefined) return settings;
  const { data, error } = schema.safeParse(settings);
  if (error === undefined) return data;
  throw new CortexError(
    "config_invalid",
    `Invalid settings of the channel ${account.channel}: ${prettifyError(error)}`,
    { hint: "See the documentation of its plugin." },
  );
}

function isAccount(channel: string, account: string): (connected: Pick<Connected, "account">) => boolean {
  return isOneOf(channel, account);
}

function isOneOf(channel: string, account: string | undefined) {
  return ({ account: each }: Pick<Connected, "account">): boolean =>
    each.channel === channel && (account === undefined || each.account === account);
}

function namesOf(accounts: readonly ChatAccount[]): string[] {
  return [...new Set(accounts.map(({ channel }) => channel))];
}

function takesNothing(channel: string, account: string): CortexError {
  const name = accountName(channel, account);
  return new CortexError("channel_unknown", `No channel ${JSON.stringify(name)} takes requests here`, {
    hint: "Run `cortex channels status` to see how the channel receives messages.",
  });
}

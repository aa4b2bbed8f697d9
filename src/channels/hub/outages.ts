/**
 * Tells the owner by another way in that an account needs a person: its credentials are refused, or another program has
 * kept reading it for a while. Once for each outage, and once more when it is over.
 *
 * An outage is kept in the store from its begin to its end, so that restarts tell nothing twice. While no other way in is
 * live, it stays untold: the health of Cortex shows it, and the first way in that comes up gets the notice.
 */
import { accountName } from "../../model/account-name.ts";
import { MINUTE_MS } from "../../model/durations.ts";
import { errorText } from "../../model/errors.ts";
import { DEFAULT_ACCOUNT, type DeliveryId } from "../../model/ids.ts";
import { OWNER_ID } from "../../model/person.ts";
import { present } from "../../model/present.ts";
import { identityOf } from "../../model/principal.ts";
import { deriveUlid } from "../../model/ulid.ts";
import type { DeliveryTarget, Store } from "../../store/store.ts";
import type { AccountStatus } from "./account-status.ts";

/** Two programs that meet for a moment, as when Cortex restarts, are no outage. */
export const LASTING_CONFLICT_MS = 5 * MINUTE_MS;
/** A connection is live for a moment before the platform notices the other program. */
export const CONFLICT_OVER_MS = MINUTE_MS;
/** How many messages of an account are searched for the chat with its owner. */
const SEARCHED_MESSAGES = 200;
const EPOCH = "0".repeat(26);

interface OutagePorts {
  readonly store: Pick<Store, "cursors" | "outbox" | "people" | "events">;
  readonly admin: () => DeliveryTarget | undefined;
  /** Whether messages can leave through an account now. */
  readonly isLive: (channel: string, account: string) => boolean;
  readonly clock: () => number;
  readonly log: (line: string) => void;
}

/** As it is stored. */
interface Outage {
  readonly state: "refused" | "conflict";
  readonly atMs: number;
  readonly error: string;
  /** Where it was told. Null: nowhere yet. */
  readonly told: DeliveryTarget | null;
}

export class Outages {
  readonly #ports: OutagePorts;
  /** Read from the store when an account is first looked at. Null: there is none. */
  readonly #known = new Map<string, Outage | null>();
  /** Since when an account has met another program, with pauses that are too short to count. */
  readonly #conflicts = new Map<string, number>();
  #isFailing = false;

  constructor(ports: OutagePorts) {
    this.#ports = ports;
  }

  /** Writes down and tells what has changed. Tried again the next time where the store fails. */
  async look(accounts: readonly AccountStatus[]): Promise<void> {
    try {
      for (const account of accounts) await this.#look(account);
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing) this.#ports.log(`Cannot tell of an outage: ${errorText(error)}`);
      this.#isFailing = true;
    }
  }

  async #look(account: AccountStatus): Promise<void> {
    const key = keyOf(account);
    const known = await this.#read(key);
    const state = this.#needOf(account, key);
    if (known !== null && this.#isOver(account, known)) return this.#end(account, known);
    if (known === null && state === undefined) return;
    const outage =
      known ?? (await this.#keep(key, { state: state!, ...stampOf(account, this.#ports), told: null }));
    if (outage.told === null && account.state !== "live") await this.#tell(account, outage);
  }

  /** Why a person is needed. */
  #needOf(account: AccountStatus, key: string): Outage["state"] | undefined {
    const nowMs = this.#ports.clock();
    if (isSteady(account, nowMs)) this.#conflicts.delete(key);
    if (account.state === "refused") return "refused";
    if (account.state !== "conflict") return undefined;
    const sinceMs = this.#conflicts.get(key) ?? nowMs;
    this.#conflicts.set(key, sinceMs);
    return nowMs - sinceMs >= LASTING_CONFLICT_MS ? "conflict" : undefined;
  }

  #isOver(account: AccountStatus, { state }: Outage): boolean {
    return account.state === "live" && (state === "refused" || isSteady(account, this.#ports.clock()));
  }

  async #tell(account: AccountStatus, outage: Outage): Promise<void> {
    const target = await this.#placeFor(account);
    if (target === undefined) return;
    const text = `The channel ${accountName(account.channel, account.account)} is disconnected: ${outage.error}`;
    await this.#notify(target, text, `${keyOf(account)}/${outage.atMs}`);
    await this.#keep(keyOf(account), { ...outage, told: target });
  }

  async #end(account: AccountStatus, { told, atMs }: Outage): Promise<void> {
    const key = keyOf(account);
    const text = `The channel ${accountName(account.channel, account.account)} is connected again.`;
    if (told !== null) await this.#notify(told, text, `${key}/${atMs}/over`);
    await this.#keep(key, null);
  }

  /** The id is the outage's own: what was queued before a crash is not queued again. */
  async #notify(target: DeliveryTarget, content: string, name: string): Promise<void> {
    const id = deriveUlid(EPOCH, name) as DeliveryId;
    await this.#ports.store.outbox.notify({ id, target, content });
  }

  /** The admin's place, else a chat of the owner, on another account that is live. */
  async #placeFor(account: AccountStatus): Promise<DeliveryTarget | undefined> {
    const admin = this.#ports.admin();
    if (admin !== undefined && this.#reaches(admin, account)) return admin;
    const owner = await this.#ports.store.people.get(OWNER_ID);
    for (const identity of owner?.identities ?? []) {
      const [, channel = "", at, sender = ""] = /^([^@:]+)(?:@([^:]+))?:(.*)$/s.exec(identity) ?? [];
      const on = { channel, account: at ?? DEFAULT_ACCOUNT };
      if (this.#reaches(on, account)) return this.#chatWith(sender, on);
    }
    return undefined;
  }

  #reaches({ channel, account = DEFAULT_ACCOUNT }: Omit<DeliveryTarget, "place">, down: AccountStatus) {
    const isOther = channel !== down.channel || account !== down.account;
    return isOther && this.#ports.isLive(channel, account);
  }

  /** Where they wrote a direct message last; otherwise platforms take the id of a person. */
  async #chatWith(
    sender: string,
    on: { readonly channel: string; readonly account: string },
  ): Promise<DeliveryTarget> {
    const { items } = await this.#ports.store.events.list({
      channel: on.channel,
      direction: "received",
      limit: SEARCHED_MESSAGES,
    });
    const wanted = identityOf({ ...on, sender });
    const said = items.find(
      (event) =>
        event.placeKind === "dm" &&
        identityOf({ ...on, account: event.account, sender: event.sender ?? "" }) === wanted,
    );
    return { ...on, place: said?.place ?? sender, ...present({ topic: said?.topic }) };
  }

  async #read(key: string): Promise<Outage | null> {
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const stored = (await this.#ports.store.cursors.get(key)) as unknown;
    const outage = (stored ?? null) as Outage | null;
    this.#known.set(key, outage);
    return outage;
  }

  async #keep<Value extends Outage | null>(key: string, outage: Value): Promise<Value> {
    await this.#ports.store.cursors.set({
      source: key,
      value: outage && { ...outage, told: toldOf(outage) },
    });
    this.#known.set(key, outage);
    return outage;
  }
}

function toldOf({ told }: Outage) {
  return told && { ...told };
}

function stampOf({ error }: AccountStatus, { clock }: OutagePorts): Pick<Outage, "atMs" | "error"> {
  return { atMs: clock(), error: error ?? "no reason was given" };
}

/** Live for long enough that no other program can be there. */
function isSteady({ state, sinceMs }: AccountStatus, nowMs: number): boolean {
  return state === "live" && nowMs - sinceMs >= CONFLICT_OVER_MS;
}

function keyOf({ channel, account }: AccountStatus): string {
  return `outage:${channel}@${account}`;
}

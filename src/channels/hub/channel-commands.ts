/** `cortex channels …` beside `add`, `login` and `remove`. */
import { ask } from "../../client/ask.ts";
import { openLedger } from "../../client/ledger.ts";
import { needServer } from "../../client/server.ts";
import { type Invocation, text } from "../../feature/command.ts";
import { accountName } from "../../model/account-name.ts";
import { reveal } from "../../model/reveal.ts";
import { describePerson } from "../../people/read-commands.ts";
import type { PersonView } from "../../people/views.ts";
import { moment, table } from "../../terminal/text.ts";
import { describeAccount, describeFindings, rowOf } from "./describe.ts";
import { channelUnknown } from "./modules.ts";
import type { ChannelView, FindingsView } from "./views.ts";

interface List<View> {
  readonly items: readonly View[];
}

const NO_CHANNELS = "No chat channels. Add one with `cortex channels add telegram`.";

export async function listChannels({ home, print }: Invocation): Promise<void> {
  const body = await readChannels(home);
  print.data(body, () =>
    body.items.length === 0 ? print.advice(NO_CHANNELS) : table(body.items.map(rowOf)),
  );
}

export async function showChannels({ home, args: [name], print }: Invocation): Promise<void> {
  const { items } = await readChannels(home);
  const meant = items.filter(
    (each) => name === undefined || each.name === name || accountName(each.name, each.account) === name,
  );
  if (name !== undefined && meant.length === 0)
    throw channelUnknown(name, [...new Set(items.map((each) => each.name))]);
  print.data({ items: meant, next: null }, () =>
    print.advice(meant.length === 0 ? NO_CHANNELS : meant.map(describeAccount).join("\n\n")),
  );
}

async function readChannels(home: string): Promise<List<ChannelView>> {
  return (await ask<List<ChannelView>>(await needServer(home), { path: "/api/channels" })).body;
}

/** False: the platform refuses something. */
export async function testChannel(given: Invocation): Promise<void | false> {
  const { print } = given;
  const { items } = await act<List<FindingsView>>(given, "test");
  print.data({ items, next: null }, () =>
    items
      .map((each) =>
        items.length === 1
          ? describeFindings(each.findings)
          : `${accountName(each.name, each.account)}\n${describeFindings(each.findings)}`,
      )
      .join("\n\n"),
  );
  if (items.some(({ findings }) => findings.some(({ state }) => state === "fail"))) return false;
}

export async function reconnectChannel(given: Invocation): Promise<void> {
  const body = await act<List<ChannelView>>(given, "reconnect");
  given.print.data(body, () => table(body.items.map(rowOf)));
}

/** Has the server do something with a channel, or with one account of it. */
async function act<Body>(given: Invocation, verb: "test" | "reconnect"): Promise<Body> {
  const {
    home,
    args: [name = ""],
  } = given;
  const account = text(given, "account");
  const query = account === undefined ? "" : `?account=${encodeURIComponent(account)}`;
  const path = `/api/channels/${encodeURIComponent(name)}/${verb}${query}`;
  return (await ask<Body>(await needServer(home), { method: "POST", path })).body;
}

export async function pairStranger(given: Invocation): Promise<void> {
  const { home, args, print } = given;
  const [code] = args;
  if (code === undefined) return listCodes(given);
  const body = { code, as: text(given, "as"), person: text(given, "person") };
  const request = { method: "POST", path: "/api/channels/pair", body } as const;
  const paired = (await ask<PersonView>(await needServer(home), request)).body;
  print.data(paired, () => describePerson(paired));
}

export async function unpairIdentity({ home, args: [identity = ""], print }: Invocation): Promise<void> {
  const request = { method: "POST", path: "/api/channels/unpair", body: { identity } } as const;
  const person = (await ask<PersonView>(await needServer(home), request)).body;
  print.data(person, () => describePerson(person));
}

async function listCodes({ home, print }: Invocation): Promise<void> {
  await using ledger = await openLedger(home);
  const pairings = await ledger.pairings.list(Date.now());
  const items = pairings.map(({ code, identity, name, expiresAtMs }) => ({
    code,
    identity,
    name,
    expiresAt: new Date(expiresAtMs).toISOString(),
  }));
  print.data({ items, next: null }, () =>
    items.length === 0
      ? print.advice("No codes. A stranger gets one for a direct message to a channel.")
      : table(
          items.map(({ code, identity, name, expiresAt }) => [
            code,
            reveal(identity),
            reveal(name),
            `until ${moment(expiresAt)}`,
          ]),
        ),
  );
}

import { ask } from "../../client/ask.ts";
import { openLedger } from "../../client/ledger.ts";
import { needServer } from "../../client/server.ts";
import { type Invocation, text } from "../../feature/command.ts";
import { reveal } from "../../model/reveal.ts";
import { describePerson } from "../../people/read-commands.ts";
import type { PersonView } from "../../people/views.ts";
import { moment, table } from "../../terminal/text.ts";
import type { ChannelView } from "./routes.ts";

interface Channels {
  readonly items: readonly ChannelView[];
}

export async function listChannels({ home, print }: Invocation): Promise<void> {
  const { body } = await ask<Channels>(await needServer(home), { path: "/api/channels" });
  print.data(body, () =>
    body.items.length === 0
      ? print.advice(
          "No chat channels. Add one to `channels` in config/cortex.json; docs/channels.md shows how.",
        )
      : table(body.items.map(rowOf)),
  );
}

function rowOf({ name, account, state, since, error }: ChannelView): string[] {
  return [
    account === "default" ? name : `${name}@${account}`,
    state,
    `since ${moment(since)}`,
    reveal(error ?? ""),
  ];
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

export async function reconnectChannel({ home, args: [name = ""], print }: Invocation): Promise<void> {
  const request = { method: "POST", path: `/api/channels/${encodeURIComponent(name)}/reconnect` } as const;
  const { body } = await ask<Channels>(await needServer(home), request);
  print.data(body, () => table(body.items.map(rowOf)));
}

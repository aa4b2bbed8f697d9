/** `cortex channels …` as people and scripts use it: processes, a terminal, a played Telegram. */
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { parse } from "jsonc-parser";
import { expect, test } from "vitest";

import { type Ended, run, startServer, temporaryHome } from "./support/cli.ts";
import { type FakeTelegram, startTelegram } from "./support/fake-telegram.ts";
import { PATIENT } from "./support/server.ts";
import { openPane } from "./support/tmux.ts";

const COMMENTED = `{
  // The time here.
  "timezone": "Europe/Berlin" // not UTC
}
`;

function openHome(cortex?: string) {
  const home = temporaryHome();
  const folder = join(home.path, "config");
  if (cortex !== undefined) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "cortex.json"), cortex);
  }
  const read = (name: string): string => readFileSync(join(folder, name), "utf8");
  return {
    path: home.path,
    folder,
    text: () => read("cortex.json"),
    config: (): ReturnType<typeof JSON.parse> => parse(read("cortex.json")),
    variables: () => parseEnv(read(".env")),
    files: () => readdirSync(folder).filter((name) => !name.endsWith("schema.json")),
    channels: (...args: string[]) => run(home.path, ["channels", ...args]),
    add: (telegram: FakeTelegram, { args = [] as string[], lines = "" } = {}) =>
      run(
        home.path,
        ["channels", "add", "telegram", ...args],
        `TELEGRAM_BOT_TOKEN=${telegram.token}\nbaseUrl=${telegram.url}\n${lines}`,
      ),
    [Symbol.dispose]: () => home[Symbol.dispose](),
  };
}

const OK = { code: 0, err: "" };

test("a script adds a channel without a server: the token is private, comments stay", async () => {
  await using telegram = await startTelegram();
  using home = openHome(COMMENTED);
  const added = await home.add(telegram);
  expect(added).toMatchObject(OK);
  expect(added.out).toContain("It is @cortex_bot.");
  expect(added.out).toContain("start it with `cortex up`");
  expect(added.out).toContain("cortex channels pair <code> --as owner");
  expect(home.text()).toBe(`{
  // The time here.
  "timezone": "Europe/Berlin", // not UTC
  "channels": {
    "telegram": {
      "tokenEnv": "TELEGRAM_BOT_TOKEN",
      "baseUrl": "${telegram.url}"
    }
  }
}
`);
  expect(home.variables()).toEqual({ TELEGRAM_BOT_TOKEN: telegram.token });
  expect(statSync(join(home.folder, ".env")).mode & 0o777).toBe(0o600);
  expect(home.files().toSorted()).toEqual([".env", "cortex.json"]);
});

test("beside a running server, the channel is live when the command ends, and is tested and shown", async () => {
  await using telegram = await startTelegram();
  using home = openHome();
  await using _ = await startServer(home.path);
  const added = await home.add(telegram);
  expect(added).toMatchObject(OK);
  expect(added.out).toContain("telegram is live.");

  const tested = await home.channels("test", "telegram");
  expect(tested).toMatchObject({ ...OK, out: expect.stringContaining("It is @cortex_bot.") });
  const status = await home.channels("status", "telegram", "--json");
  expect(JSON.parse(status.out)).toMatchObject({
    items: [{ name: "telegram", account: "default", state: "live", error: null, waiting: 0, dead: 0 }],
  });

  telegram.revoke();
  const failed = await home.channels("test", "telegram");
  expect([failed.code, failed.out]).toEqual([1, expect.stringMatching(/^fail +credentials +.*Unauthorized/)]);
  const shown = async (): Promise<string> => (await home.channels("status")).out;
  await expect.poll(shown, PATIENT).toMatch(/state +refused/);
  expect((await run(home.path, ["status"])).out).toContain("Channel telegram is not connected (refused");
  expect((await run(home.path, ["doctor"])).out).toMatch(/fail +channels +telegram.*Unauthorized/);

  telegram.renew("1000:another");
  const login = await run(home.path, ["channels", "login", "telegram"], "TELEGRAM_BOT_TOKEN=1000:another\n");
  expect(login).toMatchObject({ ...OK, out: expect.stringContaining("telegram is live.") });
  expect(home.variables()).toEqual({ TELEGRAM_BOT_TOKEN: "1000:another" });
});

test("a token that the platform refuses is not written, unless that is wanted", async () => {
  await using telegram = await startTelegram();
  using home = openHome();
  const wrong = `TELEGRAM_BOT_TOKEN=1:wrong\nbaseUrl=${telegram.url}\n`;
  const refused = await run(home.path, ["channels", "add", "telegram"], wrong);
  expect([refused.code, refused.out]).toEqual([1, expect.stringContaining("Unauthorized")]);
  expect(() => home.files()).toThrow("ENOENT");
  const kept = await run(home.path, ["channels", "add", "telegram", "--yes", "--json"], wrong);
  expect([kept.code, JSON.parse(kept.out)]).toEqual([
    0,
    {
      name: "telegram",
      account: "default",
      saved: true,
      findings: [expect.objectContaining({ name: "credentials", state: "fail" })],
      state: null,
    },
  ]);
  expect(home.variables()).toEqual({ TELEGRAM_BOT_TOKEN: "1:wrong" });
});

test("what is missing, unknown or there already is said, and nothing is written", async () => {
  await using telegram = await startTelegram();
  using home = openHome();
  const missing = await home.channels("add", "telegram");
  expect([missing.code, missing.err]).toEqual([
    2,
    expect.stringMatching(/Missing values for telegram: TELEGRAM_BOT_TOKEN\.\n.*TELEGRAM_BOT_TOKEN=123/),
  ]);
  const unknown = await home.add(telegram, { lines: "DISCORD_TOKEN=x" });
  expect([unknown.code, unknown.err]).toEqual([2, expect.stringContaining('"DISCORD_TOKEN"')]);
  const nonsense = await home.add(telegram, { lines: "nonsense=1" });
  expect([nonsense.code, nonsense.err]).toEqual([1, expect.stringContaining("nonsense")]);
  const channel = await home.channels("add", "telegrm");
  expect([channel.code, channel.err]).toEqual([
    1,
    expect.stringMatching(/Unknown channel "telegrm"\.\nDid you mean telegram\? Channels: .*telegram/),
  ]);
  expect(() => home.files()).toThrow("ENOENT");

  expect(await home.add(telegram)).toMatchObject(OK);
  expect(await home.add(telegram)).toMatchObject(OK); // the same again
  const other = await run(home.path, ["channels", "add", "telegram"], "TELEGRAM_BOT_TOKEN=2:other\n");
  expect([other.code, other.err]).toEqual([1, expect.stringContaining("already has another value")]);
  const setting = await run(home.path, ["channels", "add", "telegram"], "baseUrl=http://127.0.0.1:1\n");
  expect([setting.code, setting.err]).toEqual([1, expect.stringContaining("channels.telegram.baseUrl")]);
  const login = await run(home.path, ["channels", "login", "telegram", "--account", "work"], "");
  expect([login.code, login.err]).toEqual([1, expect.stringContaining('"telegram@work"')]);
  expect(home.variables()).toEqual({ TELEGRAM_BOT_TOKEN: telegram.token });
});

test("programs that add accounts at the same time all succeed", async () => {
  await using telegram = await startTelegram();
  using home = openHome(COMMENTED);
  const accounts = ["home", "work", "club"];
  const ended = await Promise.all(
    accounts.map((account) => {
      const lines = `TELEGRAM_BOT_TOKEN_${account.toUpperCase()}=${telegram.token}\nbaseUrl=${telegram.url}`;
      return run(home.path, ["channels", "add", "telegram", "--account", account], lines);
    }),
  );
  expect(ended.map(({ code, err }: Ended) => [code, err])).toEqual(accounts.map(() => [0, ""]));
  expect(Object.keys(home.config().channels.telegram.accounts).toSorted()).toEqual(accounts.toSorted());
  expect(Object.keys(home.variables())).toHaveLength(3);
  expect(home.text()).toContain("// not UTC");
});

test("a channel that is removed leaves the ledger and, unless told otherwise, its secret", async () => {
  await using telegram = await startTelegram();
  using home = openHome(COMMENTED);
  await home.add(telegram);
  expect(await home.channels("remove", "telegram")).toMatchObject({ code: 2 }); // nobody to ask
  const unknown = await home.channels("remove", "slack", "--yes");
  expect([unknown.code, unknown.err]).toEqual([1, expect.stringContaining("Configured channels: telegram")]);
  const removed = await home.channels("remove", "telegram", "--yes");
  expect([removed.code, removed.out]).toEqual([
    0,
    expect.stringContaining("Still in config/.env: TELEGRAM_BOT_TOKEN"),
  ]);
  expect(home.config()).toEqual({ timezone: "Europe/Berlin", channels: {} });
  expect(home.text()).toContain("// not UTC");
  await home.add(telegram);
  const both = await home.channels("remove", "telegram", "--yes", "--secrets", "--json");
  expect(JSON.parse(both.out)).toEqual({
    name: "telegram",
    account: null,
    secrets: { removed: ["TELEGRAM_BOT_TOKEN"], left: [] },
  });
  expect(home.variables()).toEqual({});
});

test("the last of several accounts takes the channel along", async () => {
  await using telegram = await startTelegram();
  using home = openHome();
  for (const account of ["a", "b"]) {
    const lines = `tokenEnv=${telegram.token}\nbaseUrl=${telegram.url}`;
    expect(await run(home.path, ["channels", "add", "telegram", "--account", account], lines)).toMatchObject(
      OK,
    );
  }
  await home.channels("remove", "telegram", "--account", "a", "--yes");
  expect(Object.keys(home.config().channels.telegram.accounts)).toEqual(["b"]);
  await home.channels("remove", "telegram", "--account", "b", "--yes");
  expect(home.config().channels).toEqual({});
});

test("an identity is taken away from its person", async () => {
  using home = openHome();
  await using _ = await startServer(home.path);
  await run(home.path, ["people", "add", "ada", "--identity", "telegram:42"]);
  const unpaired = await home.channels("unpair", "telegram:42", "--json");
  expect(JSON.parse(unpaired.out)).toMatchObject({ id: "ada", identities: [] });
  const again = await home.channels("unpair", "telegram:42");
  expect([again.code, again.err]).toEqual([1, expect.stringContaining("Nobody has the identity")]);
});

test("without a server, what needs one says how to start it", async () => {
  using home = openHome();
  for (const args of [["status"], ["test", "telegram"], ["unpair", "telegram:42"]])
    expect(await home.channels(...args)).toMatchObject({
      code: 3,
      err: expect.stringContaining("cortex up"),
    });
});

test("in a terminal, each step is explained, the token stays hidden, and a refused one is asked again", async (context) => {
  await using telegram = await startTelegram();
  using home = openHome(`{ "channels": { "telegram": { "baseUrl": "${telegram.url}" } } }`);
  await using _ = await startServer(home.path);
  using pane = openPane(home.path, { columns: 120, rows: 50 }, "channels", "add", "telegram");
  if (pane === undefined) return context.skip("no tmux");
  const says = async (text: string): Promise<void> => {
    await expect.poll(() => pane.rows().join("\n"), PATIENT).toContain(text);
  };
  await says("https://t.me/BotFather");
  await says("TELEGRAM_BOT_TOKEN (hidden):");
  pane.type("1:wrong");
  pane.press("Enter");
  await says("Unauthorized");
  await says("Enter asks again; `keep` saves it anyway:");
  expect(() => home.variables()).toThrow("ENOENT");
  pane.press("Enter");
  await expect
    .poll(() => pane.rows().filter((row) => row.startsWith("TELEGRAM_BOT_TOKEN")).length, PATIENT)
    .toBe(2);
  pane.paste(telegram.token);
  pane.press("Up"); // no history
  pane.press("Enter");
  await pane.ended().catch(() => {});
  await expect.poll(() => home.variables(), PATIENT).toEqual({ TELEGRAM_BOT_TOKEN: telegram.token });
  expect(home.config().channels.telegram).toEqual({
    baseUrl: telegram.url,
    tokenEnv: "TELEGRAM_BOT_TOKEN",
  });
  const { items } = JSON.parse((await home.channels("list", "--json")).out) as { items: unknown[] };
  expect(items).toMatchObject([{ name: "telegram", state: "live" }]);
});

test("Ctrl-C at a question leaves everything as it was", async (context) => {
  using home = openHome(COMMENTED);
  using pane = openPane(home.path, { columns: 100, rows: 40 }, "channels", "add", "telegram");
  if (pane === undefined) return context.skip("no tmux");
  await expect.poll(() => pane.rows().join("\n"), PATIENT).toContain("TELEGRAM_BOT_TOKEN (hidden):");
  pane.type("12345:secret");
  expect(pane.rows().join("\n")).not.toContain("secret");
  pane.press("C-c");
  await pane.ended();
  expect(home.text()).toBe(COMMENTED);
  expect(home.files()).toEqual(["cortex.json"]);
});

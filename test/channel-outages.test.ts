/** A token that is revoked: the owner hears of it elsewhere, once, and so does everything that shows health. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import { type FakeTelegram, startTelegram } from "./support/fake-telegram.ts";
import { writeHome } from "./support/home.ts";
import { openTestServer, PATIENT } from "./support/server.ts";
import { temporaryFolder } from "./support/temporary.ts";

const textsOf = (telegram: FakeTelegram): string[] => telegram.sent.map(({ text }) => text);

test("a revoked token is told by the other account, once over restarts, and its replacement too", async () => {
  await using home = await startTelegram();
  await using work = await startTelegram();
  using folder = temporaryFolder();
  const telegram = (tokenEnv: string, { url }: FakeTelegram) => ({ tokenEnv, baseUrl: url });
  writeHome(folder.path, {
    cortex: {
      channels: { telegram: { ...telegram("A", home), accounts: { work: telegram("B", work) } } },
    },
  });
  const setToken = (token: string): void => {
    mkdirSync(join(folder.path, "config"), { recursive: true });
    writeFileSync(join(folder.path, "config", ".env"), `A=${token}\nB=${work.token}\n`);
  };
  setToken(home.token);
  const open = () => openTestServer({}, { home: folder.path });
  const down = expect.stringMatching(/^The channel telegram is disconnected: .*Unauthorized/s);
  {
    await using server = await open();
    const identities = ["telegram:42", "telegram@work:42"] as never[];
    await server.cortex.store.people.change("owner", { link: identities }, { principal: "owner" });
    const states = () => server.cortex.channels.list().map(({ state }) => state);
    await expect.poll(states, PATIENT).toEqual(["live", "live"]);
    home.revoke();
    await expect.poll(() => textsOf(work), PATIENT).toEqual([down]);
    expect(work.sent[0]).toMatchObject({ chat_id: "42" });

    const { json } = await server.send("/api/health?full=1");
    expect(json.problems).toContainEqual(
      expect.objectContaining({
        problem: expect.stringContaining("Channel telegram is not connected (refused"),
      }),
    );
    const metrics = (await server.send("/metrics")).text;
    expect(metrics).toContain('cortex_channel_up{channel="telegram",account="default"} 0\n');
    expect(metrics).toContain('cortex_channel_up{channel="telegram",account="work"} 1\n');
  }
  {
    await using server = await open();
    const states = () => server.cortex.channels.list().map(({ state }) => state);
    await expect.poll(states, PATIENT).toEqual(["refused", "live"]);
    await server.cortex.channels.look();
    expect(textsOf(work)).toEqual([down]);
    home.renew("1000:new");
    setToken("1000:new"); // hot-reloaded
    await expect
      .poll(() => textsOf(work), PATIENT)
      .toEqual([down, "The channel telegram is connected again."]);
    expect(states()).toEqual(["live", "live"]);
  }
});

test("each account in GET /api/channels has its state, its errors, and what waits for it", async () => {
  await using telegram = await startTelegram();
  await using server = await openTestServer(
    { cortex: { channels: { telegram: { tokenEnv: "A", baseUrl: telegram.url } } } },
    { environment: { PATH: process.env["PATH"] } },
  );
  await server.cortex.store.outbox.notify({
    id: "waits" as never,
    target: { channel: "telegram", place: "42" },
    content: "hello",
  });
  expect((await server.send("/api/channels")).json).toEqual({
    items: [
      {
        name: "telegram",
        account: "default",
        state: "refused",
        since: expect.any(String),
        lastProofAt: null,
        lastEventAt: null,
        error: "A is not set. Set A in config/.env or in the environment of Cortex.",
        node: null,
        mayLose: false,
        waiting: 1,
        dead: 0,
      },
    ],
    next: null,
  });
  const tested = await server.send({ method: "POST", path: "/api/channels/telegram/test" });
  expect(tested.json.items).toEqual([
    {
      name: "telegram",
      account: "default",
      findings: [{ name: "credentials", state: "fail", message: "A is not set", hint: expect.any(String) }],
    },
  ]);
  const unknown = await server.send({ method: "POST", path: "/api/channels/slack/test" });
  expect([unknown.status, unknown.json.error.hint]).toEqual([404, expect.stringContaining("telegram")]);
});

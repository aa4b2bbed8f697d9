/** The progress of a relay in a Telegram chat, and the button that cancels it. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import { start } from "./support/cli.ts";
import { type FakeTelegram, startTelegram } from "./support/fake-telegram.ts";
import { type HomeFiles, writeHome } from "./support/home.ts";
import { openTestServer, PATIENT, type TestServer } from "./support/server.ts";
import { SMALL_RELAYS, SMALL_SCRIPT } from "./support/small-relays.ts";
import { temporaryFolder } from "./support/temporary.ts";

const HOOKS = {
  "pair.ts": `export default ({ event }) => ({
    fire: event.channel === "telegram" && event.content_type === "text",
    routing: { relay: "pair" },
  });`,
};

function filesFor(telegram: FakeTelegram, script = SMALL_SCRIPT): HomeFiles {
  const channel = { tokenEnv: "BOT_TOKEN", baseUrl: telegram.url, groups: "all", draft: false };
  return {
    cortex: {
      sandbox: "off",
      channels: { telegram: channel, paired: [{ channel: "telegram", sender: "7" }] },
      relay: { onRestart: "resume" },
    },
    hooks: HOOKS,
    relays: SMALL_RELAYS,
    script,
  };
}

async function open(telegram: FakeTelegram, script?: string): Promise<TestServer> {
  const server = await openTestServer(filesFor(telegram, script), {
    environment: { PATH: process.env["PATH"], BOT_TOKEN: telegram.token },
  });
  const { people } = server.cortex.store;
  await people.change("owner", { link: ["telegram:42" as never] }, { principal: "owner" });
  return server;
}

const progressIn = ({ sent }: FakeTelegram) => sent.filter(({ text }) => /Thread thr_\w{8} \(/.test(text));
const buttonOf = (telegram: FakeTelegram) =>
  progressIn(telegram)[0]?.reply_markup?.inline_keyboard.flat().at(0)?.callback_data;

const SLOW_READER = SMALL_SCRIPT.replace('say: "I read $1"', 'say: "I read $1", delayMs: 6000');

test("a relay has one progress message, which is edited as steps go and ends without its button", async () => {
  await using telegram = await startTelegram();
  await using _ = await open(telegram, SLOW_READER);
  telegram.say("a letter");
  await expect.poll(() => buttonOf(telegram), PATIENT).toMatch(/^cancel:thr_\w{8}$/);
  await expect.poll(() => progressIn(telegram)[0]?.text, PATIENT).toMatch(/✅ writer\n• ▶️ reader/);
  await expect.poll(() => progressIn(telegram)[0]?.text, PATIENT).toMatch(/^✅ Thread .*: completed\n/);
  expect(progressIn(telegram)).toHaveLength(1);
  expect(buttonOf(telegram)).toBeUndefined();
  await expect.poll(() => telegram.sent.map(({ text }) => text), PATIENT).toHaveLength(2); // and the end
  expect(telegram.sent.at(-1)!.text).toContain("written: a letter");
  expect(telegram.violations).toEqual([]);
});

test("its button cancels it once, for whoever may, and only below its own message", async () => {
  await using telegram = await startTelegram();
  await using server = await open(telegram);
  telegram.say("slow");
  await expect.poll(() => buttonOf(telegram), PATIENT).toMatch(/^cancel:/);
  const [progress] = progressIn(telegram);
  const data = buttonOf(telegram)!;
  const replies = () => telegram.sent.filter(({ params }) => params["reply_parameters"] !== undefined);

  telegram.press(
    progress!.message_id,
    data,
    { id: 7, is_bot: false, first_name: "Eve" },
    { id: 42, type: "private" },
  );
  await expect
    .poll(() => replies().at(0)?.text, PATIENT)
    .toBe("Only the owner, or whoever started the thread, may cancel it.");
  telegram.press(999, data);
  await expect.poll(() => replies().at(1)?.text, PATIENT).toContain("belongs to no thread");
  expect((await server.cortex.relays.list({ running: true })).items).toHaveLength(1);

  telegram.press(progress!.message_id, data);
  telegram.press(progress!.message_id, data);
  await expect
    .poll(
      () =>
        replies()
          .map(({ text }) => text.replace(/thr_\w{8}/, "it"))
          .slice(2)
          .toSorted(),
      PATIENT,
    )
    .toEqual(["Cancelled it.", "it has already ended."]);
  await expect.poll(() => progressIn(telegram)[0]?.text, PATIENT).toMatch(/^🚫 Thread .*: cancelled/);
  expect(buttonOf(telegram)).toBeUndefined();
});

test("a server that is killed meanwhile goes on with the same message", { timeout: 240_000 }, async () => {
  using folder = temporaryFolder();
  const home = folder.path;
  await using telegram = await startTelegram();
  const { cortex, ...files } = filesFor(telegram, SLOW_READER);
  const profiles = { profiles: { offline: { backend: "offline", script: "script.yaml" } } };
  writeHome(home, { cortex, profiles, ...files });
  writeFileSync(join(home, "config", ".env"), `BOT_TOKEN=${telegram.token}\n`, { mode: 0o600 });
  const first = start(home, "up", "--port", "0");
  telegram.say("a letter", { from: { id: 7, first_name: "Eve" } });
  // An edit: before it, a kill could fall between the send of the message and the record of its id.
  await expect.poll(() => progressIn(telegram)[0]?.text, PATIENT).toContain("▶️ reader");
  first.child.kill("SIGKILL");
  await first.ended;
  const second = start(home, "up", "--port", "0");
  await expect.poll(() => progressIn(telegram)[0]?.text, PATIENT).toMatch(/Thread .*: completed\n/);
  expect(progressIn(telegram)).toHaveLength(1);
  second.child.kill("SIGTERM");
  await second.ended;
});

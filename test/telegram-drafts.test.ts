/** Answers that Telegram shows while they are written, also by a server that is killed meanwhile. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import { start } from "./support/cli.ts";
import { startTelegram } from "./support/fake-telegram.ts";
import { writeHome } from "./support/home.ts";
import { PATIENT } from "./support/server.ts";
import { temporaryFolder } from "./support/temporary.ts";

const LONG = { timeout: 240_000 };
const HOOKS = {
  "all.ts": `export default ({ event }) => ({ fire: event.channel === "telegram" && event.content_type === "text" });`,
};
/** What it says first is shown until it says more. */
const SCRIPT = `
- when: "look"
  plays:
    - { say: "Let me **look**.", calls: [{ tool: List, args: {} }] }
    - { say: "Still looking.", delayMs: 4000, calls: [{ tool: List, args: {} }] }
    - { say: "All is well.", delayMs: 7000 }
- when: ".*"
  plays: [{ say: "At once." }]
`;

async function serve(act: (served: Served) => Promise<void>): Promise<void> {
  using folder = temporaryFolder();
  const home = folder.path;
  await using telegram = await startTelegram();
  writeHome(home, {
    cortex: {
      channels: {
        telegram: { tokenEnv: "BOT_TOKEN", baseUrl: telegram.url, groups: "all" },
        paired: [{ channel: "telegram", sender: "42" }],
      },
    },
    profiles: { profiles: { offline: { backend: "offline", script: "script.yaml" } } },
    script: SCRIPT,
    hooks: HOOKS,
  });
  writeFileSync(join(home, "config", ".env"), `BOT_TOKEN=${telegram.token}\n`, { mode: 0o600 });
  const up = () => start(home, "up", "--port", "0");
  await act({ telegram, up });
  expect(telegram.violations).toEqual([]);
}

interface Served {
  readonly telegram: Awaited<ReturnType<typeof startTelegram>>;
  readonly up: () => ReturnType<typeof start>;
}

const group = { id: -100, type: "supergroup", title: "Friends" } as const;
const shown = ({ telegram }: Served) => telegram.sent.map(({ text }) => text);
const calls = ({ telegram }: Served, method: string) =>
  telegram.requests.filter((request) => request.method === method);

test("a slow answer is shown as a draft in a direct message, and a fast one is not", LONG, () =>
  serve(async (served) => {
    const { telegram, up } = served;
    const server = up();
    telegram.say("at once, please");
    await expect.poll(() => shown(served), PATIENT).toEqual(["At once."]);
    expect(calls(served, "sendMessageDraft")).toEqual([]);
    telegram.say("look after it");
    await expect.poll(() => shown(served), PATIENT).toEqual(["At once.", "All is well."]);
    const [draft] = calls(served, "sendMessageDraft");
    expect(draft!.params).toMatchObject({ chat_id: 42, text: "Let me look." });
    expect(calls(served, "editMessageText")).toEqual([]);
    server.child.kill("SIGTERM");
    await server.ended;
  }),
);

test("in a group, a draft survives a kill, and the answer takes its place", LONG, () =>
  serve(async (served) => {
    const { telegram, up } = served;
    const first = up();
    telegram.say("look after it", { chat: group });
    await expect.poll(() => shown(served), PATIENT).toEqual(["Let me look. …"]);
    // An edit: before it, a kill could fall between the send of the draft and the record of its id.
    await expect.poll(() => shown(served), PATIENT).toEqual(["Still looking. …"]);
    first.child.kill("SIGKILL");
    await first.ended;
    const second = up();
    await expect.poll(() => shown(served), PATIENT).toEqual(["All is well."]);
    expect(calls(served, "sendMessage")).toHaveLength(1);
    second.child.kill("SIGTERM");
    await second.ended;
  }),
);

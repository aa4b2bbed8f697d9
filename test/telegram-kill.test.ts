/** Telegram and a server that is killed again and again: each message has one turn, in the order of its chat. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import { openSqliteLedger } from "../src/store/sqlite/sqlite-ledger.ts";
import { databasePath } from "../src/config/home.ts";
import { start } from "./support/cli.ts";
import { startTelegram } from "./support/fake-telegram.ts";
import { writeHome } from "./support/home.ts";
import { PATIENT } from "./support/server.ts";
import { temporaryFolder } from "./support/temporary.ts";

const LONG = { timeout: 240_000 };
const CHATS = 20;
const MESSAGES = 40;
const KILLS = 2;

const HOOKS = {
  "all.ts": `export default ({ event }) => ({ fire: event.channel === "telegram" && event.content_type === "text" });`,
};
const SCRIPT = `
- when: ".*"
  plays: [{ say: "echo {{message}}" }]
`;

test(
  "what comes in while the server is killed has one turn each, in the order of its chat",
  LONG,
  async () => {
    using folder = temporaryFolder();
    const home = folder.path;
    await using telegram = await startTelegram();
    writeHome(home, {
      cortex: {
        broker: { queue: { mode: "followup", cap: 100 } },
        people: { limits: { perMinute: 100_000, pending: 1_000 } },
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
    for (let n = 0; n < MESSAGES; n++) {
      const chat = { id: -1 - (n % CHATS), type: "group", title: `chat ${n % CHATS}` } as const;
      telegram.say(`${n}`, { chat });
    }

    const answered = () => new Set(telegram.sent.map(({ text }) => text)).size;
    for (let kills = 0; kills <= KILLS; kills++) {
      const server = start(home, "up", "--port", "0");
      const isLast = kills === KILLS;
      const enough = isLast ? MESSAGES : Math.min(answered() + MESSAGES / (KILLS + 2), MESSAGES - 1);
      await expect.poll(answered, { ...PATIENT, interval: 5 }).toBeGreaterThanOrEqual(enough);
      server.child.kill(isLast ? "SIGTERM" : "SIGKILL");
      await server.ended;
    }

    await using ledger = await openSqliteLedger({ path: databasePath(home) });
    const turns = await ledger.query(
      `select t.id, e.content, e.thread_id from agent_turns t join events e on e.id = t.source_event_id
     where e.channel = 'telegram' order by t.id`,
      [],
      { maxRows: 1_000 },
    );
    expect(turns.map(({ content }) => Number(content)).toSorted((a, b) => a - b)).toEqual(
      Array.from({ length: MESSAGES }, (_, n) => n),
    );
    for (const chat of Map.groupBy(turns, ({ thread_id: chat }) => chat).values()) {
      const order = chat.map(({ content }) => Number(content));
      expect(order).toEqual(order.toSorted((a, b) => a - b));
    }
    // A second copy is there only where a kill fell into a send, and then it is marked.
    const { items } = await ledger.outbox.list({ limit: 1_000 });
    const repeated = items.flatMap(({ chunks }) => chunks.filter(({ isRepeat }) => isRepeat));
    expect(telegram.sent.length - MESSAGES).toBeLessThanOrEqual(repeated.length);
    expect(telegram.violations).toEqual([]);
  },
);

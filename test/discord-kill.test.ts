/** Discord and a server that is killed again and again: each message has one turn, in the order of its chat. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import { openSqliteLedger } from "../src/store/sqlite/sqlite-ledger.ts";
import { databasePath } from "../src/config/home.ts";
import { start } from "./support/cli.ts";
import { GUILD, startDiscord } from "./support/fake-discord.ts";
import { writeHome } from "./support/home.ts";
import { PATIENT } from "./support/server.ts";
import { temporaryFolder } from "./support/temporary.ts";

const LONG = { timeout: 240_000 };
const CHATS = 10;
const MESSAGES = 40;
const KILLS = 2;

const HOOKS = {
  "all.ts": `export default ({ event }) => ({ fire: event.channel === "discord" && event.content_type === "text" });`,
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
    await using discord = await startDiscord();
    writeHome(home, {
      cortex: {
        broker: { queue: { mode: "followup", cap: 100 } },
        people: { limits: { perMinute: 100_000, pending: 1_000 } },
        channels: {
          discord: { tokenEnv: "BOT_TOKEN", apiUrl: discord.apiUrl, groups: "all" },
          paired: [{ channel: "discord", sender: "42" }],
        },
      },
      profiles: { profiles: { offline: { backend: "offline", script: "script.yaml" } } },
      script: SCRIPT,
      hooks: HOOKS,
    });
    writeFileSync(join(home, "config", ".env"), `BOT_TOKEN=${discord.token}\n`, { mode: 0o600 });
    const channels = Array.from({ length: CHATS }, (_, n) => `${9_000 + n}`);
    for (const id of channels) discord.addChannel({ id, type: 0, name: `c${id}`, guild_id: GUILD.id });
    let said = 0;
    const sayUpTo = (count: number): void => {
      for (; said < count; said++) discord.say(`${said}`, { channel: channels[said % CHATS]! });
    };

    const answered = () => new Set(discord.sent.map(({ content }) => content)).size;
    for (let kills = 0; kills <= KILLS; kills++) {
      const server = start(home, "up", "--port", "0");
      const isLast = kills === KILLS;
      await expect.poll(() => discord.identifies + discord.resumes, PATIENT).toBeGreaterThan(kills);
      // Some while it runs, and some while nobody listens; once, Discord forgets the session.
      const enough = isLast ? MESSAGES : answered() + MESSAGES / (KILLS + 3);
      sayUpTo(isLast ? MESSAGES : Math.min(enough + 5, MESSAGES));
      await expect.poll(answered, { ...PATIENT, interval: 5 }).toBeGreaterThanOrEqual(enough);
      server.child.kill(isLast ? "SIGTERM" : "SIGKILL");
      await server.ended;
      if (kills === 0) discord.forgetSessions();
      sayUpTo(Math.min(said + 5, MESSAGES));
    }

    await using ledger = await openSqliteLedger({ path: databasePath(home) });
    const turns = await ledger.query(
      `select t.id, e.content, e.thread_id from agent_turns t join events e on e.id = t.source_event_id
     where e.channel = 'discord' order by t.id`,
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
    // A kill that falls into a send leaves no second copy: Discord knows its nonce.
    expect(discord.sent).toHaveLength(MESSAGES);
    expect(discord.violations).toEqual([]);
  },
);

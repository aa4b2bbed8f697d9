/** Slack and a server that is killed again and again: each message has one turn, and each answer is there once. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import { databasePath } from "../src/config/home.ts";
import { openSqliteLedger } from "../src/store/sqlite/sqlite-ledger.ts";
import { start } from "./support/cli.ts";
import { startSlack } from "./support/fake-slack.ts";
import { writeHome } from "./support/home.ts";
import { PATIENT } from "./support/server.ts";
import { temporaryFolder } from "./support/temporary.ts";

const LONG = { timeout: 240_000 };
const CHANNELS = 10;
const MESSAGES = 30;
const KILLS = 2;

test("what comes in while the server is killed has one turn and one answer each", LONG, async () => {
  using folder = temporaryFolder();
  const home = folder.path;
  await using slack = await startSlack({ channels: CHANNELS });
  writeHome(home, {
    cortex: {
      broker: { queue: { mode: "followup", cap: 100 } },
      people: { limits: { perMinute: 100_000, pending: 1_000 } },
      channels: {
        slack: { botTokenEnv: "BOT_TOKEN", appTokenEnv: "APP_TOKEN", apiUrl: slack.url, groups: "all" },
        paired: [{ channel: "slack", sender: slack.people[0]! }],
      },
    },
    profiles: { profiles: { offline: { backend: "offline", script: "script.yaml" } } },
    script: '- when: ".*"\n  plays: [{ say: "echo {{message}}" }]\n',
    hooks: {
      "all.ts": `export default ({ event }) => ({ fire: event.channel === "slack" && event.content_type === "text" });`,
    },
  });
  const tokens = `BOT_TOKEN=${slack.botToken}\nAPP_TOKEN=${slack.appToken}\n`;
  writeFileSync(join(home, "config", ".env"), tokens, { mode: 0o600 });
  for (let n = 0; n < MESSAGES; n++) slack.say(`${n}`, { channel: slack.channels[n % CHANNELS]! });

  const answered = () => new Set(slack.sent.map(({ text }) => text)).size;
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
    `select e.content from agent_turns t join events e on e.id = t.source_event_id
     where e.channel = 'slack' order by t.id`,
    [],
    { maxRows: 1_000 },
  );
  expect(turns.map(({ content }) => Number(content)).toSorted((a, b) => a - b)).toEqual(
    Array.from({ length: MESSAGES }, (_, n) => n),
  );
  // Whatever a kill left in doubt was found by its key.
  expect(slack.sent.length).toBe(MESSAGES);
  expect(slack.unacknowledged).toBe(0);
  expect(slack.violations).toEqual([]);
});

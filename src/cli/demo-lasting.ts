/** The steps of a demo that show what lasts. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { MAIN_SESSION } from "../model/session-key.ts";
import type { fullTurnView } from "../feature/views.ts";
import { writeDemoScript } from "./demo-home.ts";
import { CHARGES, MESSAGES } from "./demo-script.ts";
import type { DemoStep } from "./demo-step.ts";
import { openTalk } from "./demo-talk.ts";
import { needServer } from "../client/server.ts";

export const KILL: DemoStep = {
  name: "kill",
  title: "kill -9, in the middle of a turn",
  about: "The server is killed between two tool calls and started again. The turn goes on with the second.",
  async play({ home, server, stage, thinkMs }) {
    stage.shell("cortex chat");
    await using talk = await openTalk(MAIN_SESSION, { home: home.path, stage });
    await talk.say(MESSAGES.charge);
    await talk.until("tool.finished");
    const { pid } = await needServer(home.path);
    stage.shell(`kill -9 ${pid}`);
    await server.kill();
    writeDemoScript(home.path, { thinkMs, receiptMs: thinkMs });
    stage.shell("cortex up");
    const again = await server.start();
    const turnId = await talk.turn();
    const file = join(home.workspace, CHARGES);
    const charges = readFileSync(file, "utf8");
    stage.shell(`cat ${file}`);
    stage.say(charges.trimEnd());
    stage.suggest("The turn", `cortex show ${turnId}`);
    const { toolCalls } = await stage.look<ReturnType<typeof fullTurnView>>("show", turnId);
    const lines = charges.trimEnd().split("\n");
    assert.equal(lines.length, 1);
    return {
      shown: `Killed after the first call, taken up by process ${again.pid}, and charged once.`,
      facts: {
        turnId,
        killed: pid,
        pid: again.pid,
        calls: toolCalls.map(({ name, status }) => `${name} ${status}`),
        charges: lines,
      },
    };
  },
};

export const VERIFY: DemoStep = {
  name: "verify",
  title: "The ledger",
  about: "Every turn is hashed over the one before it and all that was said and done in it.",
  async play({ stage }) {
    const { ok, turns } = await stage.cortex<{ readonly ok: boolean; readonly turns: number }>("verify");
    return { shown: "Nothing was lost, and nothing changed since it was written.", facts: { ok, turns } };
  },
};

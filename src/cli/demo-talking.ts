/** The steps of a demo in which somebody talks to an agent. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { MAIN_SESSION } from "../model/session-key.ts";
import type { Comparison } from "../insight/compare-turns.ts";
import type { fullTurnView, SessionView } from "../feature/views.ts";
import { BUILD_MAY_END } from "./demo-home.ts";
import { MESSAGES } from "./demo-script.ts";
import { typed } from "./demo-stage.ts";
import type { DemoStep } from "./demo-step.ts";
import { openTalk } from "./demo-talk.ts";
import type { SendResult } from "./send.ts";

type Turn = ReturnType<typeof fullTurnView>;

export const CHAT: DemoStep = {
  name: "chat",
  title: "A chat",
  about: "You ask, the agent uses a tool, and its answer appears as it is written.",
  async play({ home, stage }) {
    stage.shell("cortex chat");
    await using talk = await openTalk(MAIN_SESSION, { home: home.path, stage });
    await talk.say(MESSAGES.chat);
    const { id, toolCalls, text } = await stage.look<Turn>("show", await talk.turn());
    const tools = toolCalls.map(({ name }) => name);
    stage.suggest("In one line", typed(["send", MESSAGES.chat, "--wait"]));
    return {
      shown: `Question, ${tools.join(" and ")}, and answer are one turn: ${id}.`,
      facts: { turnId: id, tools, text },
    };
  },
};

export const STEER: DemoStep = {
  name: "steer",
  title: "A steer in the middle of work",
  about: "What you type while a tool runs is read within the same turn, at its next step.",
  async play({ home, stage }) {
    stage.shell("cortex chat");
    await using talk = await openTalk(MAIN_SESSION, { home: home.path, stage });
    await talk.say(MESSAGES.build);
    await talk.until("tool.started");
    await talk.say(MESSAGES.steer, "steer");
    writeFileSync(join(home.workspace, BUILD_MAY_END), "");
    const { id, messages, toolCalls } = await stage.look<Turn>("show", await talk.turn());
    const asked = messages.filter(({ role }) => role === "user").map(({ content }) => content);
    assert.deepEqual(asked, [MESSAGES.build, MESSAGES.steer]);
    const tools = toolCalls.map(({ name }) => name);
    stage.suggest("All of the turn", `cortex show ${id}`);
    return {
      shown: `${asked.length} messages of yours, one turn: ${id}.`,
      facts: { turnId: id, asked, tools },
    };
  },
};

export const FORK: DemoStep = {
  name: "fork",
  title: "A fork",
  about: "From any turn, however old, you can go on differently. Both branches stay, and can be compared.",
  async play({ stage }) {
    const { items } = await stage.look<{ readonly items: readonly SessionView[] }>("sessions");
    const { head } = items.find(({ key }) => key === MAIN_SESSION)!;
    const { parentId } = await stage.look<Turn>("show", head!);
    const fork = await stage.cortex<SendResult>("fork", parentId!, MESSAGES.fork, "--session", "leaflet", "--wait");
    const { common, left, right } = await stage.cortex<Comparison>(
      "diff",
      MAIN_SESSION,
      fork.session,
      "--side",
    );
    stage.suggest("The tree", "cortex log --all");
    return {
      shown: `Two branches of ${common!.id}, side by side.`,
      facts: { common: common!.id, heads: [left.head, right.head], texts: [left, right].map(textOf) },
    };
  },
};

function textOf({ turns }: Comparison["left"]): string {
  return turns.at(-1)?.text ?? "";
}

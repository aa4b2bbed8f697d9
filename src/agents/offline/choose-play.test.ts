import * as fc from "fast-check";
import { expect, test } from "vitest";

import { assistant, exchange, user } from "../../../test/support/conversation.ts";
import type { Json } from "../../model/json.ts";
import { type AgentId, DEFAULT_AGENT } from "../../model/ids.ts";
import type { Exchange } from "../agent.ts";
import { choosePlay, MAX_MATCHED_LENGTH } from "./choose-play.ts";
import { parseScript } from "./script.ts";

const script = await parseScript(
  `
- { when: "^paint (\\\\w+)", plays: [{ say: "paint one $1" }, { say: "paint two $1" }] }
- { when: "^stop", plays: [{ say: "stop one" }, { say: "stop two" }] }
- { when: "paint", plays: [{ say: "never for ^paint" }] }
`,
  "play.yaml",
);

async function chosen(turn: Exchange, agent: AgentId = DEFAULT_AGENT): Promise<string> {
  const choice = await choosePlay(script, turn, agent);
  return choice.kind === "play" ? choice.play.say : choice.kind;
}

test.each([
  ["the first entry that matches is played", [user("paint blue")], "paint one blue"],
  ["a match may be anywhere", [user("please paint")], "never for ^paint"],
  ["nothing is played where nothing matches", [user("sing")], "none"],
  ["each message of the assistant is a play", [user("paint blue"), assistant("1")], "paint two blue"],
  ["after the last play it is over", [user("paint blue"), assistant("1"), assistant("2")], "over"],
  ["the newest of two messages decides", [user("paint blue"), user("stop it")], "stop one"],
  ["also where it matches nothing", [user("paint blue"), user("sing")], "none"],
  [
    "a steered message that matches another entry starts that entry",
    [user("paint blue"), assistant("1"), user("stop it")],
    "stop one",
  ],
  [
    "and its plays are counted from there",
    [user("paint blue"), assistant("1"), user("stop it"), assistant("2")],
    "stop two",
  ],
  [
    "one that matches the same entry goes on with it, with its own words",
    [user("paint blue"), assistant("1"), user("paint red")],
    "paint two red",
  ],
  [
    "one that matches nothing changes nothing",
    [user("paint blue"), assistant("1"), user("hurry")],
    "paint two blue",
  ],
  [
    "one that matches at last is played from the start",
    [user("sing"), assistant("la"), user("stop")],
    "stop one",
  ],
  ["a turn without messages plays nothing", [], "none"],
])("%s", async (_, parts, expected) => {
  expect(await chosen(exchange(parts))).toBe(expected);
});

test("the envelope is not part of the words", async () => {
  expect(await chosen(exchange([user("blue", "stop it, said Ann")]))).toBe("none");
  expect(await chosen(exchange([user("stop", "12:00, Telegram, Ann")]))).toBe("stop one");
});

test.each([
  ["main", "main"],
  ["scout", "scout"],
  ["other", "anyone"],
])("when %s is asked, what is for %s is played", async (agent, expected) => {
  const entries = ["main", "scout"].map((id) => `- {when: x, agent: ${id}, plays: [{say: ${id}}]}`);
  const byAgent = await parseScript(
    [...entries, "- {when: x, plays: [{say: anyone}]}"].join("\n"),
    "play.yaml",
  );
  const choice = await choosePlay(byAgent, exchange([user("x")]), agent as AgentId);
  expect(choice).toMatchObject({ kind: "play", play: { say: expected } });
});

test("the message and the groups are filled in, however deep, and only values", async () => {
  const args = { $1: ["{{message}}", { deep: "$2$1 and $3" }, 1, null, true], __proto__x: "$$1 $0 $ $x" };
  expect(await filled("(\\w+) (\\w+)?", args, "one ")).toEqual({
    $1: ["one ", { deep: "one and $3" }, 1, null, true],
    __proto__x: "$1 $0 $ $x",
  });
});

test("what a message brings is not filled in itself", async () => {
  expect(await filled("(.*)", { text: "$1 {{message}}" }, "$1 {{message}} $$1")).toEqual({
    text: "$1 {{message}} $$1 $1 {{message}} $$1",
  });
});

test("any message is repeated as it is", async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: "grapheme" }), async (message) => {
      expect(await filled("(?s)^.*$", { text: "<{{message}}>" }, message)).toEqual({ text: `<${message}>` });
    }),
  );
});

test("of a long message only the beginning counts", async () => {
  const message = `${"a".repeat(MAX_MATCHED_LENGTH)}b`;
  expect(await filled("^a", { text: "{{message}}" }, message)).toEqual({
    text: "a".repeat(MAX_MATCHED_LENGTH),
  });
  expect(await filled("b", {}, message)).toBeUndefined();
});

async function filled(when: string, args: Json, message: string): Promise<Json | undefined> {
  const entries = await parseScript(
    JSON.stringify([{ when, plays: [{ calls: [{ tool: "A", args }] }] }]),
    "play.yaml",
  );
  const choice = await choosePlay(entries, exchange([user(message)]), DEFAULT_AGENT);
  return choice.kind === "play" ? choice.play.calls[0]?.args : undefined;
}

/**
 * The played Telegram, used by a client that was written for the real one: what it takes from the servers and gives to
 * them is what our channel takes and gives.
 */
import { Bot, type GrammyError, HttpError } from "grammy";
import { expect, test } from "vitest";

import { openTelegramApi } from "../src/channels/telegram/api.ts";
import { startTelegram, type FakeTelegram } from "./support/fake-telegram.ts";
import { PATIENT } from "./support/server.ts";

function botOf(telegram: FakeTelegram): Bot {
  return new Bot(telegram.token, { client: { apiRoot: telegram.url } });
}

test("a client of Telegram's community reads messages, edits, presses and reactions in order, and confirms them", async () => {
  await using telegram = await startTelegram();
  const bot = botOf(telegram);
  const seen: string[] = [];
  bot.on("message:text", ({ message }) => void seen.push(`said ${message.text}`));
  bot.on("edited_message:text", ({ editedMessage }) => void seen.push(`edited ${editedMessage.text}`));
  bot.on("callback_query:data", async (context) => {
    seen.push(`pressed ${context.callbackQuery.data}`);
    await context.answerCallbackQuery();
  });
  bot.on(
    "message_reaction",
    ({
      messageReaction: {
        new_reaction: [emoji],
      },
    }) => void seen.push(`reacted ${emoji?.type === "emoji" ? emoji.emoji : ""}`),
  );
  const first = telegram.say("one");
  telegram.say("two");
  telegram.edit(first, "one, mended");
  telegram.press(first, "yes");
  telegram.react(first, "👍");
  const polling = bot.start({
    allowed_updates: ["message", "edited_message", "callback_query", "message_reaction"],
  });
  await expect.poll(() => seen.length, PATIENT).toBe(5);
  await bot.stop(); // confirms what was read
  await polling;
  expect(seen).toEqual(["said one", "said two", "edited one, mended", "pressed yes", "reacted 👍"]);
  expect(telegram.unconfirmed).toBe(0);
  expect(telegram.violations).toEqual([]);
});

test("it sends, replies, edits and asks with buttons by the requests that our channel sends", async () => {
  await using telegram = await startTelegram();
  const { api } = botOf(telegram);
  const ours = openTelegramApi({ baseUrl: telegram.url, token: telegram.token, fetch, log: () => {} });
  const signal = AbortSignal.timeout(10_000);
  const bold = { type: "bold", offset: 0, length: 5 } as const;
  const keyboard = { inline_keyboard: [[{ text: "Yes", callback_data: "yes" }]] };
  const reply = { message_id: 1, allow_sending_without_reply: true };

  const theirs = await api.sendMessage("42", "hello there", {
    entities: [bold],
    reply_parameters: reply,
    reply_markup: keyboard,
  });
  const request = {
    chat_id: "42",
    text: "hello there",
    entities: [bold],
    reply_parameters: reply,
    reply_markup: keyboard,
  };
  const sent = await ours.call<{ message_id: number }>("sendMessage", request, { signal });
  expect(telegram.requests[0]).toEqual(telegram.requests[1]);

  await api.editMessageText("42", theirs.message_id, "hello again");
  const edit = { chat_id: "42", message_id: sent.message_id, text: "hello again" };
  await ours.call("editMessageText", edit, { signal });
  expect(telegram.sent.map(({ text }) => text)).toEqual(["hello again", "hello again"]);

  await api.sendChatAction("42", "typing");
  await api.setMessageReaction("42", theirs.message_id, [{ type: "emoji", emoji: "👍" }]);
  expect(telegram.violations).toEqual([]);
});

test("it calls failures by the same names: refused, too many requests, a second poller, no credentials", async () => {
  await using telegram = await startTelegram();
  const bot = botOf(telegram);
  const refusal = (work: Promise<unknown>): Promise<unknown> =>
    work.then(
      () => undefined,
      (error: unknown) => error,
    );

  expect(await refusal(bot.api.sendMessage("404", "hello"))).toMatchObject({ error_code: 400 });
  telegram.fail("sendMessage", {
    kind: "status",
    status: 429,
    description: "Too Many Requests",
    retryAfter: 7,
  });
  const limited = (await refusal(bot.api.sendMessage("42", "hello"))) as GrammyError;
  expect([limited.error_code, limited.parameters.retry_after]).toEqual([429, 7]);
  telegram.fail("sendMessage", { kind: "accept-then-cut" });
  expect(await refusal(bot.api.sendMessage("42", "hello"))).toBeInstanceOf(HttpError);
  expect(telegram.sent).toHaveLength(1);

  const first = refusal(bot.api.getUpdates({ timeout: 30 }));
  await expect.poll(() => telegram.polls, PATIENT).toBe(1);
  const second = bot.api.getUpdates({ timeout: 0 });
  expect(await first).toMatchObject({ error_code: 409 });
  await second;
  telegram.revoke();
  expect(await refusal(bot.api.getMe())).toMatchObject({ error_code: 401 });
});

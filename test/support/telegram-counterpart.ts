/** The played Telegram, as the conformance kit uses it. */
import type { Counterpart, PlayedMessage, SendFault, Where } from "../../src/channels/kit/counterpart.ts";
import { startTelegram } from "./fake-telegram.ts";

const FIRST_PERSON = 40_000;
const FIRST_GROUP = -1_000_000;
const FIRST_TOPIC = 500;

export async function startTelegramCounterpart(): Promise<Counterpart> {
  const telegram = await startTelegram();
  let fileNumber = 0;

  function mention(text: string): { readonly text: string; readonly entities: readonly object[] } {
    const name = "@cortex_bot";
    return { text: `${name} ${text}`, entities: [{ type: "mention", offset: 0, length: name.length }] };
  }

  function filesOf({ files = [] }: PlayedMessage): object[] {
    return files.map(({ name, contentType, content, bytes = content?.length }) => {
      const id = `file-${fileNumber++}`;
      if (content !== undefined) telegram.files.set(id, Buffer.from(content));
      return { document: { file_id: id, file_name: name, mime_type: contentType, file_size: bytes } };
    });
  }

  function say(message: PlayedMessage): string {
    const { where, person, replyTo } = message;
    const { text, ...marked } = message.mention === true ? mention(message.text) : { text: message.text };
    const from = message.self === true ? { id: 1_000, is_bot: true } : userOf(person, message.bot);
    const reply = replyTo === undefined ? {} : { reply_to_message: replied(replyTo) };
    const [file, ...more] = filesOf(message);
    const caption = file === undefined ? {} : { caption: text, ...file };
    const id = telegram.say(text, { from, ...inChat(where), ...marked, ...reply, ...caption });
    for (const each of more) telegram.say("", { from, ...inChat(where), ...each }); // Telegram takes one file a message
    return String(id);
  }

  function replied(id: string): object {
    const isOwn = telegram.sent.some(({ message_id }) => String(message_id) === id);
    return { message_id: Number(id), from: { id: isOwn ? 1_000 : FIRST_PERSON, is_bot: isOwn } };
  }

  return {
    settings: { tokenEnv: "TELEGRAM_TEST_TOKEN", baseUrl: telegram.url },
    variables: { TELEGRAM_TEST_TOKEN: telegram.token },
    sender: (person) => String(FIRST_PERSON + person),
    place: (where) => ({
      place: String(chatOf(where).id),
      ...(topicOf(where) === undefined ? {} : { topic: String(topicOf(where)) }),
    }),
    say,
    edit: (at, text) =>
      telegram.edit(Number(at.messageId), text, { from: userOf(at.person), ...inChat(at.where) }),
    react: (at, emoji) => telegram.react(Number(at.messageId), emoji, chatOf(at.where), userOf(at.person)),
    press: (at, data) => telegram.press(Number(at.messageId), data, userOf(at.person), chatOf(at.where)),
    get sent() {
      return telegram.sent.map(({ message_id: id, chat_id: place, text, params, file }) => ({
        id: String(id),
        place,
        ...(params["message_thread_id"] === undefined ? {} : { topic: String(params["message_thread_id"]) }),
        text,
        ...(params["reply_parameters"] === undefined
          ? {}
          : { replyTo: String(params["reply_parameters"].message_id) }),
        buttons: (
          (params["reply_markup"]?.inline_keyboard ?? []) as { text: string; callback_data: string }[][]
        )
          .flat()
          .map((button) => ({ label: button.text, data: button.callback_data })),
        files: file === undefined ? [] : [{ name: params["document"] as string, content: file }],
      }));
    },
    get unacknowledged() {
      return telegram.unconfirmed;
    },
    get receivers() {
      return telegram.waitingPolls;
    },
    violations: telegram.violations,
    cut: () => telegram.cut(),
    delay: (ms) => telegram.delay(ms),
    deafen: () => telegram.deafen(),
    failSends: (...faults) => telegram.fail("sendMessage", ...faults.map(faultOf)),
    revoke: () => telegram.revoke(),
    expel: (where) => telegram.expel(chatOf(where).id),
    [Symbol.asyncDispose]: () => telegram[Symbol.asyncDispose](),
  };
}

function faultOf(fault: SendFault) {
  if (fault.kind !== "rate-limit") return fault;
  const retryAfter = Math.ceil(fault.pauseMs / 1_000);
  return { kind: "status", status: 429, description: "Too Many Requests", retryAfter } as const;
}

function userOf(person: number, bot = false) {
  return { id: FIRST_PERSON + person, is_bot: bot, first_name: `Person ${person}` };
}

function chatOf(where: Where) {
  if (where.kind === "dm") return { id: FIRST_PERSON + where.person, type: "private" } as const;
  return { id: FIRST_GROUP - where.group, type: "supergroup", title: `Group ${where.group}` } as const;
}

function topicOf(where: Where): number | undefined {
  return where.kind === "group" && where.topic !== undefined ? FIRST_TOPIC + where.topic : undefined;
}

function inChat(where: Where) {
  const topic = topicOf(where);
  const thread = topic === undefined ? {} : { message_thread_id: topic, is_topic_message: true };
  return { chat: chatOf(where), ...thread };
}

/** The played Slack, as the conformance kit uses it. */
import type { Counterpart, PlayedMessage, SendFault, Where } from "../../src/channels/kit/counterpart.ts";
import { startSlack } from "./fake-slack.ts";

/** The kit numbers people and groups below this. */
const MAX_NUMBER = 60;

export async function startSlackCounterpart(): Promise<Counterpart> {
  const slack = await startSlack({ people: MAX_NUMBER, channels: MAX_NUMBER });
  let fileNumber = 0;

  const channelOf = (where: Where): string =>
    where.kind === "dm" ? slack.dms[where.person]! : slack.channels[where.group]!;
  const at = (where: Where, person: number) => ({ channel: channelOf(where), user: slack.people[person]! });

  function filesOf({ files = [] }: PlayedMessage): object {
    const shared = files.map(({ name, contentType, content, bytes = content?.length }) => {
      const id = `F${fileNumber++}`;
      if (content !== undefined) slack.files.set(id, Buffer.from(content));
      return { id, name, mimetype: contentType, size: bytes };
    });
    return shared.length === 0 ? {} : { subtype: "file_share", files: shared };
  }

  function say(message: PlayedMessage): string {
    const { where, person, text, mention, replyTo, bot, self } = message;
    // A reply is a thread that begins with what it answers.
    const thread = topicOf(where) ?? replyTo;
    return slack.say(mention === true ? `<@${slack.bot.user}> ${text}` : text, {
      ...at(where, person),
      ...(self === true ? { user: slack.bot.user } : {}),
      ...(thread === undefined ? {} : { thread }),
      more: { ...filesOf(message), ...(bot === true ? { bot_id: "BOTHER" } : {}) },
    });
  }

  return {
    settings: { botTokenEnv: "SLACK_TEST_BOT", appTokenEnv: "SLACK_TEST_APP", apiUrl: slack.url },
    variables: { SLACK_TEST_BOT: slack.botToken, SLACK_TEST_APP: slack.appToken },
    sender: (person) => slack.people[person]!,
    place(where) {
      const topic = topicOf(where);
      return { place: channelOf(where), ...(topic === undefined ? {} : { topic }) };
    },
    say,
    edit: ({ messageId }, text) => slack.edit(messageId, text),
    remove: ({ messageId }) => slack.remove(messageId),
    react: ({ where, messageId, person }) => slack.react(messageId, "+1", at(where, person)),
    press: ({ where, messageId, person }, data) => slack.press(messageId, data, at(where, person)),
    get sent() {
      return slack.sent.map(({ ts: id, channel: place, thread, text, blocks, files }) => ({
        id,
        place,
        ...(thread === undefined ? {} : isTopic(thread) ? { topic: thread } : { replyTo: thread }),
        text: text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&"),
        buttons: blocks
          .flatMap((block) => (block["type"] === "actions" ? (block["elements"] as SlackButton[]) : []))
          .map((button) => ({ label: button.text.text, data: button.value })),
        files,
      }));
    },
    get unacknowledged() {
      return slack.unacknowledged;
    },
    get receivers() {
      return slack.sockets;
    },
    violations: slack.violations,
    cut: () => slack.cut(),
    delay: (ms) => slack.delay(ms),
    deafen: () => slack.deafen(),
    failSends: (...faults) => slack.fail("chat.postMessage", ...faults.map(faultOf)),
    revoke: () => slack.revoke(),
    expel: (where) => slack.expel(channelOf(where)),
    [Symbol.asyncDispose]: () => slack[Symbol.asyncDispose](),
  };
}

interface SlackButton {
  readonly text: { readonly text: string };
  readonly value: string;
}

/** Threads of long ago. */
const FIRST_TOPIC = "1700000000.";

function topicOf(where: Where): string | undefined {
  if (where.kind === "dm" || where.topic === undefined) return undefined;
  return `${FIRST_TOPIC}${String(where.topic + 1).padStart(6, "0")}`;
}

function isTopic(thread: string): boolean {
  return thread.startsWith(FIRST_TOPIC);
}

function faultOf(fault: SendFault) {
  if (fault.kind !== "rate-limit") return fault;
  return { kind: "status", status: 429, retryAfter: Math.ceil(fault.pauseMs / 1_000) } as const;
}

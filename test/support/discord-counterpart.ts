/** The played Discord, as the conformance kit uses it. */
import type { Counterpart, PlayedMessage, SendFault, Where } from "../../src/channels/kit/counterpart.ts";
import { BOT, type DiscordFault, GUILD, startDiscord } from "./fake-discord.ts";

const FIRST_PERSON = 40_000;
const FIRST_DM = 60_000;
const FIRST_GROUP = 70_000;
const FIRST_TOPIC = 800_000;
const TOPICS_IN_GROUP = 1_000;
/** Heartbeats tell what is stored. */
const HEARTBEAT_MS = 50;

export async function startDiscordCounterpart(): Promise<Counterpart> {
  const discord = await startDiscord({ heartbeatMs: HEARTBEAT_MS });

  /** The channel or thread of a place, which is there from now on. */
  function channelOf(where: Where): string {
    const { place, topic } = placeOf(where);
    const known = discord.channels;
    if (!known.has(place))
      discord.addChannel(
        where.kind === "dm"
          ? { id: place, type: 1 }
          : { id: place, type: 0, name: `group-${where.group}`, guild_id: GUILD.id },
      );
    if (topic !== undefined && !known.has(topic))
      discord.addChannel({ id: topic, type: 11, name: "topic", guild_id: GUILD.id, parent_id: place });
    return topic ?? place;
  }

  function say({ where, person, text, mention, replyTo, files = [], bot, self }: PlayedMessage): string {
    const isMention = mention === true;
    return discord.say(isMention ? `<@${BOT.id}> ${text}` : text, {
      channel: channelOf(where),
      from: self === true ? BOT : userOf(person, bot),
      ...(replyTo === undefined ? {} : { replyTo }),
      files: files.map(({ content, ...file }) => ({
        ...file,
        content: content === undefined ? undefined : Buffer.from(content),
      })),
      more: isMention ? { mentions: [BOT] } : {},
    });
  }

  return {
    settings: { tokenEnv: "DISCORD_TEST_TOKEN", apiUrl: discord.apiUrl },
    variables: { DISCORD_TEST_TOKEN: discord.token },
    sender: (person) => userOf(person).id,
    place: (where) => {
      channelOf(where);
      return placeOf(where);
    },
    say,
    edit: ({ messageId }, text) => discord.edit(messageId, text),
    remove: ({ messageId }) => discord.remove(messageId),
    react: ({ messageId, person }, emoji) => discord.react(messageId, emoji, userOf(person)),
    press: ({ messageId, person }, data) => void discord.press(messageId, data, userOf(person)),
    get sent() {
      return discord.sent.map(({ id, channel_id: channel, content, message_reference: reply, ...more }) => {
        const { parent_id: parent } = discord.channels.get(channel)!;
        return {
          id,
          place: parent ?? channel,
          ...(parent === undefined ? {} : { topic: channel }),
          text: content,
          ...(reply === undefined ? {} : { replyTo: reply.message_id }),
          buttons: more.components.flatMap((row: { components: { label: string; custom_id: string }[] }) =>
            row.components.map(({ label, custom_id: data }) => ({ label, data })),
          ),
          files: more.attachments.map(({ filename: name, url }: { filename: string; url: string }) => ({
            name,
            content: discord.file(url)!,
          })),
        };
      });
    },
    get unacknowledged() {
      return discord.unacknowledged;
    },
    get receivers() {
      return discord.receivers;
    },
    violations: discord.violations,
    cut: () => discord.cut(),
    delay: (ms) => void (discord.delayMs = ms),
    deafen: () => discord.deafen(),
    failSends: (...faults) => discord.fail("POST /channels/*/messages", ...faults.map(faultOf)),
    revoke: () => discord.revoke(),
    expel: (where) => discord.hide(channelOf(where)),
    [Symbol.asyncDispose]: () => discord[Symbol.asyncDispose](),
  };
}

function faultOf(fault: SendFault): DiscordFault {
  if (fault.kind !== "rate-limit") return fault;
  const body = { message: "You are being rate limited.", retry_after: fault.pauseMs / 1_000, global: false };
  return { kind: "status", status: 429, body };
}

function userOf(person: number, bot = false) {
  return {
    id: `${FIRST_PERSON + person}`,
    username: `person${person}`,
    global_name: `Person ${person}`,
    bot,
  };
}

function placeOf(where: Where) {
  if (where.kind === "dm") return { place: `${FIRST_DM + where.person}` };
  const { group, topic } = where;
  const thread = topic === undefined ? {} : { topic: `${FIRST_TOPIC + group * TOPICS_IN_GROUP + topic}` };
  return { place: `${FIRST_GROUP + group}`, ...thread };
}

// A chat channel for Cortex: a message board that is polled over HTTP. Put this folder into the home as `channels/board`.
import { credentialsRefused, deliveryFailed, deliveryRefused, deliveryUncertain, z } from "cortexd/channels";

const settings = z.object({
  url: z.url(),
  tokenEnv: z.string().default("BOARD_TOKEN"), // the name of a variable, never the token itself
});

export default {
  api: 1,
  name: "board",
  settings,
  can: {
    maxLength: 500,
    edit: false,
    react: false,
    commands: false,
    threads: "topic",
    startThread: false,
    buttons: 0,
    polls: false,
    embeds: false,
    voice: false,
    ack: "after-commit",
    proofMs: 30_000, // a poll is answered at once, or after a moment
    find: false,
    onUncertain: "repeat", // the board takes a message once for each key
  },
  format: {
    maxLength: 500,
    render: ({ text }) => ({ wire: text, fill: text.length / 500 }),
  },
  setup: [
    {
      title: "Create an account on the board",
      text: "Copy its token.",
      asks: { setting: "tokenEnv", secret: true, example: "board-token" },
    },
  ],
  async probe(settings, ports) {
    const me = await openBoard(settings, ports).call("GET", "/me", undefined, AbortSignal.timeout(10_000));
    return [{ name: "token", state: "ok", message: `It is ${me.id}.` }];
  },
  open(settings, ports) {
    const board = openBoard(settings, ports);
    return {
      async receive(sink, signal) {
        let after = (await sink.cursor()) ?? 0;
        while (!signal.aborted) {
          const { events, next } = await board.call("GET", `/events?after=${after}`, undefined, signal);
          sink.proof(); // the board answered, however quiet it is
          if (events.length === 0) continue;
          await sink.commit(events.map(toInbound), next);
          after = next; // asking for what comes after it acknowledges it: only now
        }
      },
      async send({ key, address: { place, topic }, content, replyTo }, signal) {
        const message = { key, place, topic, text: content, replyTo };
        const { id } = await board.call("POST", "/messages", message, signal);
        return { platformId: id };
      },
      download: ({ id }, signal) => board.download(id, signal),
      [Symbol.asyncDispose]: async () => {},
    };
  },
};

function toInbound({
  n,
  kind,
  id,
  place,
  person,
  isBot = false,
  text,
  replyTo,
  repliesToMe = false,
  files = [],
  at,
}) {
  const isNew = kind === "message";
  return {
    id: isNew ? id : `${id}:${kind}:${n}`, // the same whenever it is delivered again
    kind,
    place,
    sender: { id: person, bot: isBot, self: person === "bot" },
    mentionsMe: repliesToMe || text?.startsWith("@bot ") === true,
    messageId: id,
    text: text?.replace(/^@bot /, "") ?? null,
    ...(replyTo === undefined ? {} : { replyTo }),
    ...(files.length === 0 ? {} : { files: files.map((file) => ({ ...file, kind: "file" })) }),
    atMs: at,
  };
}

function openBoard({ url, tokenEnv }, { secret, fetch }) {
  const headers = { Authorization: `Bearer ${secret(tokenEnv)}` };
  return {
    async call(method, path, body, signal) {
      let response;
      try {
        response = await fetch(url + path, {
          method,
          headers,
          signal,
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        });
      } catch (cause) {
        // Nobody knows whether it arrived.
        throw deliveryUncertain("The board did not answer", { hint: "It may have arrived.", cause });
      }
      const answer = await response.json();
      if (response.ok) return answer;
      const { reason = `status ${response.status}`, retryAfterMs } = answer;
      switch (response.status) {
        case 401:
          throw credentialsRefused("The board refused the token", { hint: "Set another token." });
        case 429:
          throw deliveryFailed("The board is busy", { hint: "Retried automatically.", retryAfterMs });
        default:
          throw deliveryRefused(`The board refused it: ${reason}`, { hint: "Check the place." });
      }
    },
    async download(id, signal) {
      const response = await fetch(`${url}/files/${id}`, { headers, signal });
      if (response.ok) return response.body;
      throw new Error(`The board answered ${response.status} for the file`);
    },
  };
}

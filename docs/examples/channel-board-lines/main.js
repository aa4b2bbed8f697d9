// The same message board as a program of its own, which speaks JSON lines. It could be in any language.
import { createInterface } from "node:readline";

const MAX_CHUNK_BYTES = 256 * 1024;

write({
  hello: {
    api: 1,
    can: { threads: "topic", proofMs: 30_000, onUncertain: "repeat" },
    format: { kind: "text", maxLength: 500 },
    does: ["probe", "download"],
  },
});

const token = process.env.BOARD_TOKEN; // listed in `env` of the configuration
const committed = new Map();
const cancels = new Map();
let settings;

for await (const line of createInterface({ input: process.stdin })) {
  const said = JSON.parse(line);
  if (said.open !== undefined) {
    ({ settings } = said.open);
    void receive(said.open.cursor ?? 0);
  } else if (said.committed !== undefined) committed.get(said.committed)?.();
  else if (said.cancel !== undefined) cancels.get(said.cancel)?.abort();
  else if (said.id !== undefined) void answer(said);
}
process.exit(); // Cortex has closed our input

async function receive(after) {
  for (let n = 1; ; n++) {
    const { status, answer } = await call("GET", `/events?after=${after}`).catch((error) =>
      end("lost", `The board did not answer: ${error.message}`),
    );
    if (status === 401) return end("credentials", "The board refused the token");
    if (status !== 200) return end("lost", `The board answered ${status}`);
    write({ proof: true });
    if (answer.events.length === 0) continue;
    const isStored = new Promise((resolve) => committed.set(n, resolve));
    write({ commit: n, events: answer.events.map(toInbound), cursor: answer.next });
    await isStored; // only now they may be acknowledged, by asking for what comes after them
    committed.delete(n);
    after = answer.next;
  }
}

async function answer({ id, send, download, probe }) {
  const cancel = new AbortController();
  cancels.set(id, cancel);
  try {
    if (probe !== undefined) {
      ({ settings } = probe);
      const { status, answer } = await call("GET", "/me");
      const finding =
        status === 200
          ? { state: "ok", message: `It is ${answer.id}.` }
          : { state: "fail", message: `Status ${status}` };
      write({ id, ok: [{ name: "token", ...finding }] });
    } else if (download !== undefined) await giveFile(id, download.file);
    else if (send !== undefined) await post(id, send.message, cancel.signal);
  } catch (error) {
    write({ id, error: { kind: "uncertain", message: `The board did not answer: ${error.message}` } });
  } finally {
    cancels.delete(id);
  }
}

async function post(id, { key, address: { place, topic }, content, replyTo }, signal) {
  const message = { key, place, topic, text: content, replyTo };
  const { status, answer } = await call("POST", "/messages", message, signal);
  const { reason = `status ${status}`, retryAfterMs = 1_000 } = answer;
  if (status === 200) write({ id, ok: { platformId: answer.id } });
  else if (status === 429)
    write({ id, error: { kind: "failed", message: "The board is busy", retryAfterMs } });
  else write({ id, error: { kind: "refused", message: `The board refused it: ${reason}` } });
}

async function giveFile(id, file) {
  const response = await fetch(`${settings.url}/files/${file.id}`, { headers: headers() });
  if (!response.ok)
    return write({
      id,
      error: { kind: "refused", message: `The board answered ${response.status} for the file` },
    });
  const content = Buffer.from(await response.arrayBuffer());
  for (let from = 0; from < content.length; from += MAX_CHUNK_BYTES)
    write({ id, chunk: content.subarray(from, from + MAX_CHUNK_BYTES).toString("base64") });
  write({ id, ok: null });
}

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
  files,
  at,
}) {
  return {
    id: kind === "message" ? id : `${id}:${kind}:${n}`,
    kind,
    place,
    sender: { id: person, bot: isBot, self: person === "bot" },
    mentionsMe: repliesToMe || text?.startsWith("@bot ") === true,
    messageId: id,
    replyTo,
    text: text?.replace(/^@bot /, "") ?? null,
    files,
    atMs: at,
  };
}

async function call(method, path, body, signal) {
  const response = await fetch(settings.url + path, {
    method,
    headers: headers(),
    signal,
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  return { status: response.status, answer: await response.json() };
}

function headers() {
  return { Authorization: `Bearer ${token}` };
}

function end(why, message) {
  write({ end: why, message });
  process.exit();
}

function write(line) {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

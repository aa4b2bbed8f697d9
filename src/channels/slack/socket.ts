/**
 * Socket Mode: Slack sends envelopes over a WebSocket, and delivers again what is not acknowledged. The built-in WebSocket
 * shows neither pings nor pongs, which alone prove that a quiet connection lives, and cannot drop a peer that is gone.
 */
import { WebSocket } from "ws";

import { channelConflict, credentialsRefused, type Inbound, type Sink } from "../channel.ts";

interface SocketPorts {
  readonly sink: Sink;
  readonly read: (payload: unknown) => Promise<readonly Inbound[]>;
  readonly log: (line: string) => void;
}

interface Envelope {
  readonly type?: string;
  readonly envelope_id?: string;
  readonly payload?: unknown;
  readonly reason?: string;
  readonly num_connections?: number;
}

const HANDSHAKE_MS = 15_000;
const PING_MS = 15_000;
/** A connection without a sign of life for longer is stale. */
export const SOCKET_PROOF_MS = 4 * PING_MS;
const MAX_ENVELOPE_BYTES = 16 * 1024 * 1024;
/** Slack delivers later what comes beyond. */
const MAX_WAITING = 1_000;
const MAX_BATCH = 100;

/** Ends when Slack wants another connection, or the signal aborts. Throws as `Connection.receive` does. */
export async function receiveBySocket(url: string, signal: AbortSignal, ports: SocketPorts): Promise<void> {
  const { sink, read, log } = ports;
  const socket = new WebSocket(url, {
    handshakeTimeout: HANDSHAKE_MS,
    maxPayload: MAX_ENVELOPE_BYTES,
    perMessageDeflate: false,
  });
  const ended = Promise.withResolvers<void>();
  const waiting: Envelope[] = [];
  let storing: Promise<void> | undefined;
  let isGreeted = false;

  async function store(): Promise<void> {
    for (let batch = waiting.splice(0, MAX_BATCH); batch.length > 0; batch = waiting.splice(0, MAX_BATCH)) {
      const events = await Promise.all(batch.map(({ payload }) => read(payload)));
      if (events.flat().length > 0) await sink.commit(events.flat());
      for (const { envelope_id: id } of batch) socket.send(JSON.stringify({ envelope_id: id }), () => {});
    }
    storing = undefined;
  }

  function take(envelope: Envelope): void {
    const { type, reason, num_connections: connections = 1, envelope_id: id } = envelope;
    if (type === "hello") {
      isGreeted = true;
      if (connections > 1)
        log(`${connections} connections share this app. Slack sends each message to only one of them.`);
    } else if (type === "disconnect") {
      const failure = disconnection(reason);
      if (failure !== undefined) ended.reject(failure);
      else Promise.resolve(storing).then(ended.resolve, ended.reject);
    } else if (id !== undefined && waiting.length < MAX_WAITING) {
      waiting.push(envelope);
      storing ??= store();
      storing.catch(ended.reject);
    }
  }

  const prove = (): void => {
    if (isGreeted) sink.proof();
  };
  socket.on("message", (data) => {
    const envelope = parse((data as Buffer).toString());
    if (envelope === undefined) return log("Slack sent an envelope that cannot be read.");
    take(envelope);
    prove();
  });
  socket.on("ping", prove);
  socket.on("pong", prove);
  socket.on("error", (error) => ended.reject(new Error(`The connection to Slack failed: ${error.message}`)));
  socket.on("close", (code) => ended.reject(new Error(`Slack closed the connection (${code})`)));
  const stop = (): void => ended.resolve();
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  const pinging = setInterval(() => socket.readyState === WebSocket.OPEN && socket.ping(), PING_MS);
  try {
    await ended.promise;
  } finally {
    clearInterval(pinging);
    signal.removeEventListener("abort", stop);
    socket.terminate();
  }
}

/** Undefined: Slack renews the connection, every few hours. */
function disconnection(reason = ""): Error | undefined {
  const said = `Slack ended the connection: ${reason}`;
  if (reason === "link_disabled")
    return credentialsRefused(said, { hint: "Turn Socket Mode on in the settings of the app." });
  if (reason === "too_many_websockets")
    return channelConflict(said, { hint: "Stop the other programs that use this app." });
  return undefined;
}

function parse(text: string): Envelope | undefined {
  try {
    return (JSON.parse(text) as Envelope | null) ?? undefined;
  } catch {
    return undefined;
  }
}

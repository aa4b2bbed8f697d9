/** A program that speaks the port of channels as JSON lines, as a channel. */
import { z } from "zod";

import type { Ports } from "../../feature/ports.ts";
import { errorText } from "../../model/errors.ts";
import type { Json } from "../../model/json.ts";
import { reveal } from "../../model/reveal.ts";
import { childEnvironment } from "../../programs/environment.ts";
import {
  CHANNEL_API,
  channelConflict,
  type ChannelModule,
  type ChannelPorts,
  type Connection,
  credentialsRefused,
  deliveryFailed,
  type FileRef,
  type Finding,
  type Receipt,
  type Sink,
} from "../channel.ts";
import { formatOf } from "./formats.ts";
import { RunningProgram, type Said } from "./program.ts";
import { CHUNK_BYTES, type Request } from "./protocol.ts";

export interface ProgramUse {
  readonly command: readonly string[];
  readonly folder?: string;
  readonly env: readonly string[];
  /** Its folder, or the program itself, without links. */
  readonly place: string;
}

type ProgramPorts = Pick<Ports, "home" | "settings" | "watchProgram">;
type Settings = Readonly<Record<string, unknown>>;

/** Starts it once, to hear what it can. */
export async function openProgram(
  name: string,
  use: ProgramUse,
  ports: ProgramPorts,
): Promise<ChannelModule> {
  const start = (log: (line: string) => void): Promise<RunningProgram> => startProgram(use, ports, log);
  const hello = await (async () => {
    await using program = await start(() => {});
    return program.hello;
  })();
  const { can, format, does } = hello;
  return {
    api: CHANNEL_API,
    name,
    settings: z.looseObject({}),
    can: { ...can, maxLength: format.maxLength },
    format: formatOf(format),
    setup: [],
    probe: (settings, channel) => probe(settings as Settings, channel, { start, does }),
    open: (settings, channel) => openConnection({ settings: settings as Settings, channel, start, does }),
  };
}

function startProgram(
  { command: [file, ...args], folder, env, place }: ProgramUse,
  { home, settings, watchProgram }: ProgramPorts,
  log: (line: string) => void,
): Promise<RunningProgram> {
  return RunningProgram.start({
    file: file!,
    args,
    folder: folder === undefined ? home : place,
    environment: childEnvironment(process.env, { names: env, variable: settings.variable }),
    watch: watchProgram(),
    log,
  });
}

interface Opening {
  readonly start: (log: (line: string) => void) => Promise<RunningProgram>;
  readonly does: readonly Request[];
}

interface Opened extends Opening {
  readonly settings: Settings;
  readonly channel: ChannelPorts;
}

const PROBE_MS = 60_000;
const findings = z.array(
  z.object({
    name: z.string(),
    state: z.enum(["ok", "warn", "fail"]),
    message: z.string(),
    hint: z.string().exactOptional(),
  }),
);

async function probe(
  settings: Settings,
  { account, log }: ChannelPorts,
  { start, does }: Opening,
): Promise<readonly Finding[]> {
  const started: Finding = { name: "program", state: "ok", message: "The program starts." };
  await using program = await start(log);
  if (!does.includes("probe")) return [started];
  void drain(program);
  const signal = AbortSignal.timeout(PROBE_MS);
  return [started, ...findings.parse(await program.ask("probe", { account, settings }, { signal }))];
}

async function drain(program: RunningProgram): Promise<void> {
  try {
    for await (const _ of program.said());
  } catch {
    // The request that waits is told.
  }
}

/** More commits than this are not taken before the first of them is done. */
const MAX_COMMITS = 16;

function openConnection({ settings, channel, start, does }: Opened): Connection {
  let running: RunningProgram | undefined;
  const program = (): RunningProgram => {
    if (running !== undefined) return running;
    throw deliveryFailed("The program of the channel is not running", { hint: "It is started again." });
  };
  const ask = (request: string, params: object, signal: AbortSignal): Promise<Json> =>
    program().ask(request, params, { signal });
  const optional: Partial<Connection> & Record<Exclude<Request, "probe">, unknown> = {
    find: async (message, signal) => receiptOf(await ask("find", { message }, signal)),
    edit: async (at, wire, signal) => void (await ask("edit", { at, wire }, signal)),
    remove: async (at, signal) => void (await ask("remove", { at }, signal)),
    react: async (at, emoji, signal) => void (await ask("react", { at, emoji }, signal)),
    typing: async (to, signal) => void (await ask("typing", { to }, signal)),
    menu: async (commands, signal) => void (await ask("menu", { commands }, signal)),
    // What it finds comes as events.
    backfill: async (_, places, signal) => void (await ask("backfill", { places }, signal)),
    download: async (file, signal) => download(file, signal, program()),
  };
  const done = Object.entries(optional).filter(([request]) => (does as readonly string[]).includes(request));
  return {
    async receive(sink, signal) {
      const started = await start(channel.log);
      try {
        if (signal.aborted) return;
        running = started;
        const cursor = (await sink.cursor()) ?? null;
        started.tell({ open: { api: CHANNEL_API, account: channel.account, settings, cursor } });
        await hearAll(started, sink, channel.log);
      } finally {
        await started[Symbol.asyncDispose]();
      }
    },
    async send(message, signal) {
      if (message.part?.kind === "file") await tellFile(message.part.sha256, channel, program());
      return receiptOf(await ask("send", { message }, signal)) ?? {};
    },
    ...(Object.fromEntries(done) as Partial<Connection>),
    [Symbol.asyncDispose]: async () => running?.[Symbol.asyncDispose](),
  };
}

/** Until the program ends. Commits load files, whose content comes by the same lines, so no line waits for a commit. */
async function hearAll(program: RunningProgram, sink: Sink, log: (line: string) => void): Promise<void> {
  let commits = 0;
  let committing: Promise<void> = Promise.resolve();
  let failure: Error | undefined;
  const commit = async ({
    commit: number,
    events,
    cursor,
  }: Extract<Said, { commit: number }>): Promise<void> => {
    try {
      await sink.commit(events, cursor);
      program.tell({ committed: number });
    } catch (cause) {
      failure ??= new Error(`Its events could not be stored: ${errorText(cause)}`, { cause });
      await program[Symbol.asyncDispose]();
    } finally {
      commits--;
    }
  };
  for await (const said of program.said()) {
    if ("proof" in said) sink.proof();
    else if ("log" in said) log(reveal(said.log));
    else if ("end" in said) throw endOf(said);
    else if (++commits > MAX_COMMITS)
      throw new Error(`More than ${MAX_COMMITS} commits wait for their answers`);
    else committing = committing.then(() => commit(said));
  }
  await committing;
  throw failure ?? new Error("The program of the channel ended");
}

function endOf({ end, message, hint }: Extract<Said, { end: string }>): Error {
  switch (end) {
    case "credentials":
      return credentialsRefused(message, { hint });
    case "conflict":
      return channelConflict(message, { hint });
    case "lost":
      return new Error(message);
  }
}

/** Its content comes before the message. */
async function tellFile(sha256: string, { readFile }: ChannelPorts, program: RunningProgram): Promise<void> {
  const content = Buffer.from(await readFile(sha256));
  for (let from = 0; from === 0 || from < content.length; from += CHUNK_BYTES) {
    const chunk = content.subarray(from, from + CHUNK_BYTES).toString("base64");
    program.tell({ file: sha256, chunk, isLast: from + CHUNK_BYTES >= content.length });
  }
}

/** Chunks come before the answer that ends them. */
function download(file: FileRef, signal: AbortSignal, program: RunningProgram): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>({
    async start(controller) {
      const chunk = (content: Buffer): void => controller.enqueue(content);
      try {
        await program.ask("download", { file }, { signal, chunk });
        controller.close();
      } catch (error) {
        controller.error(error);
      }
    },
  });
}

function receiptOf(value: Json): Receipt | undefined {
  if (value === null) return undefined;
  const { platformId } = z.object({ platformId: z.string().exactOptional() }).parse(value);
  return platformId === undefined ? {} : { platformId };
}

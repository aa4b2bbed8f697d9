/** `cortex up` as a child process on a home of its own. */
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { compiledIn } from "../patched-source.ts";
import { WORKER } from "./manager.ts";

export interface Address {
  readonly url: string;
  readonly token: string;
}

export interface Up extends Address {
  /** How many turns it says that it has resumed. */
  readonly resumed: number;
}

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly complaints: string;
}

export interface Served {
  /** Undefined: it ended before it was up. */
  readonly up: Promise<Up | undefined>;
  readonly ended: Promise<Ended>;
  signal(name: "SIGKILL" | "SIGTERM"): void;
}

/** Where things are in a home of the harness. */
export function placesIn(home: string) {
  return {
    database: join(home, "data", "cortex.db"),
    token: join(home, "data", "token"),
    workspace: join(home, "workspace"),
    /** The file to which the calls append. */
    log: join(home, "log"),
    /** The folder that is watched, and one beside it in which files grow. */
    drop: join(home, "drop"),
    growing: join(home, "growing"),
  };
}

/** Where answers can be sent. */
export const PLACES = ["shop", "bell"] as const;
/** The profile whose window is soon full. */
export const SMALL = "small";
const UNLIMITED = 1_000_000_000;
/** A few turns beside the system prompt and the tools, which take nearly half of it. */
const SMALL_WINDOW_TOKENS = 3_000;

/** The webhook that is taken in, and the secret with which it is signed: each home has its own. */
export const WEBHOOK = "alarm";
const SECRET_VARIABLE = "ALARM_SECRET";

export function secretOf(home: string): string {
  return createHash("sha256").update(home).digest("hex");
}

/** The sessions to which the hook sends what it hears, by the channel. */
export const HOOK_SESSIONS = { webhook: "alarms", files: "drops" } as const;
/** What its events begin with. All others, no hook wants. */
export const WANTED = "MESSAGE ";
const SETTLE_MS = 20;

const HOOK = `
const SESSIONS = ${JSON.stringify(HOOK_SESSIONS)};

export const filter = { channels: Object.keys(SESSIONS), match: "^${WANTED}" };

export default function ({ event }) {
  return {
    fire: true,
    routing: { session: SESSIONS[event.channel], queueMode: "queue" },
    context: { prompt: "Note it.", extracted: { id: event.id } },
    delivery: { channel: "webhook", place: ${JSON.stringify(PLACES[1])} },
  };
}
`;

export function makeHome(home: string, urls: { readonly model: string; readonly inbox: string }): void {
  const cortex = {
    agents: { main: { workspace: "workspace" }, [WORKER]: { workspace: "workspace" } },
    sandbox: "off",
    // On a busy machine, a home lives long enough to spend what a day allows, and would then answer something else.
    personas: { atlas: { permissions: { spendUsdPerDay: UNLIMITED } } },
    usage: {
      callsPerDay: UNLIMITED,
      tokensPerDay: UNLIMITED,
      personaCallsPerDay: UNLIMITED,
      personaTokensPerDay: UNLIMITED,
    },
    // No message dies of kills or of a busy model, and none is dropped for want of room: what ends so was asked to.
    broker: {
      maxAttempts: 1_000,
      maxInterruptions: 1_000,
      retryMs: 50,
      shutdownMs: 2_000,
      queue: { cap: 1_000, debounceMs: 20 },
    },
    channels: {
      webhooks: {
        ...Object.fromEntries(
          PLACES.map((place) => [place, { deliverTo: { url: `${urls.inbox}/${place}` } }]),
        ),
        [WEBHOOK]: { scheme: "generic", secretEnv: SECRET_VARIABLE },
      },
      files: { drop: { folder: "drop", settleMs: SETTLE_MS } },
    },
  };
  const price = { input: 1, output: 2 };
  const local = { provider: "openai-compatible", model: "local", baseUrl: urls.model, price };
  const small = { ...local, contextWindow: SMALL_WINDOW_TOKENS };
  const { drop, growing } = placesIn(home);
  for (const folder of [join(home, "config"), join(home, "hooks"), drop, growing]) mkdirSync(folder);
  writeFileSync(join(home, "hooks", "route.mjs"), HOOK);
  writeFileSync(join(home, "config", ".env"), `${SECRET_VARIABLE}=${secretOf(home)}\n`);
  writeFileSync(join(home, "config", "cortex.json"), JSON.stringify(cortex));
  writeFileSync(
    join(home, "config", "profiles.json"),
    JSON.stringify({ defaultProfile: "local", profiles: { local, [SMALL]: small } }),
  );
  writeFileSync(placesIn(home).log, "");
}

/** Starts a copy of the source, which dies by itself at a point where one is named. */
export function startServed(
  source: string,
  home: string,
  death: { readonly point: string; readonly count: number } | undefined,
): Served {
  const { PATH, TMPDIR } = process.env;
  const child = spawn(process.execPath, [join(source, "bin", "cortex.js"), "up", "--port", "0", "--json"], {
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      PATH,
      TMPDIR,
      HOME: home,
      CORTEX_HOME: home,
      TZ: "UTC",
      ...compiledIn(source),
      CRASH_POINT: death?.point ?? "",
      CRASH_COUNT: String(death?.count ?? 0),
    },
  });
  let complaints = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (complaints += text));
  const ended = once(child, "exit").then(() => ({
    code: child.exitCode,
    signal: child.signalCode,
    complaints,
  }));
  const up = Promise.withResolvers<Up | undefined>();
  let said = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    said += text;
    if (said.includes("\n")) up.resolve(readUp(said, home));
  });
  void ended.then(() => up.resolve(undefined));
  return { up: up.promise, ended, signal: (name) => void child.kill(name) };
}

function readUp(said: string, home: string): Up {
  const { url, resumed } = JSON.parse(said.slice(0, said.indexOf("\n"))) as Omit<Up, "token">;
  return { url, token: readFileSync(placesIn(home).token, "utf8").trim(), resumed };
}

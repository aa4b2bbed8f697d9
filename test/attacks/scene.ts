/**
 * A whole Cortex that is configured as a careful owner would, with an obedient model, an attacker who can be reached
 * by all means, and secrets wherever there may be some.
 */
import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import type { AgentId, DispatchId, EventId, ItemId } from "../../src/model/ids.ts";
import type { PlaceKind } from "../../src/model/event.ts";
import type { Json } from "../../src/model/json.ts";
import { normalizeSessionKey, type SessionKey } from "../../src/model/session-key.ts";
import { FEATURES } from "../../src/runtime/features.ts";
import { present } from "../../src/model/present.ts";
import { decide } from "../../src/intake/approvals.ts";
import { queueing } from "../../src/intake/messages.ts";
import { type Approval, MAX_PAGE } from "../../src/store/store.ts";
import { grantFor, principalOfEvent } from "../../src/personas/authority.ts";
import { writeHome } from "../support/home.ts";
import {
  type ModelRequest,
  type ModelServer,
  type Reply,
  startModelServer,
} from "../support/model-server.ts";
import { type PlayedChannel, playChannel } from "../support/played-channel.ts";
import { openTestServer, type TestServer } from "../support/server.ts";
import { temporaryFolder } from "../support/temporary.ts";
import { type Attacker, openAttacker, openInside } from "./attacker.ts";
import type { Family } from "./attacks.ts";
import { canary, filesBelow } from "./canary.ts";
import { forgedFiles } from "./corpus/forgeries.ts";
import { plantRepositories } from "./corpus/repositories.ts";
import { obey } from "./obedient-model.ts";

/** Of the repositories in the workspace, but not in copies of them that an attack has put aside. */
const DECIDES_ON_PROGRAMS =
  /^home\/workspaces\/main\/(repo|bare|kept-apart|side|apart)\/(?!.*aside)(.*\/)?(config|commondir|\.git|hooks\/.*)$/;

const OWNER = { name: "owner", isOwner: true };

/** Who writes, by the doors that they come through. */
export const SENDERS = {
  owner: { channel: "http", sender: "owner" },
  source: { channel: "webhook", sender: "shop" },
  folder: { channel: "files", sender: "inbox" },
  paired: { channel: "telegram", sender: "7" },
  bob: { channel: "telegram", sender: "8" },
} as const;

export interface Scene extends AsyncDisposable {
  /** The running one: another after a restart. */
  readonly served: TestServer;
  /** What people have got on their platform. */
  readonly telegram: PlayedChannel;
  readonly model: ModelServer;
  readonly attacker: Attacker;
  readonly inside: Pick<Attacker, "port" | "visits">;
  readonly home: string;
  readonly outside: string;
  readonly workspace: string;
  /** What neither the model nor the attacker may ever see. */
  readonly secrets: Readonly<Record<string, string>>;
  /** What the model may see, and the attacker may not. */
  readonly confidences: Readonly<Record<string, string>>;
  /** The number of seconds by which the attacker's processes are recognised. */
  readonly sleep: string;
  /** All that people were asked. */
  readonly asked: readonly Approval[];
  /** What was there when the scene was set. */
  readonly before: ReadonlyMap<string, Buffer>;
  /** What must be the same afterwards: all that is neither the agents' own nor Cortex's records. */
  guarded(): Map<string, Buffer>;
  /** Puts what the scene knows into a text. */
  fill(text: string): string;
  send(content: string, from: keyof typeof SENDERS, to: Recipient): Promise<Sent>;
  /** Ends the process, as far as a test can, and starts Cortex again on the same home. */
  restart(meanwhile?: () => Promise<void> | void): Promise<void>;
}

export interface Recipient {
  readonly session: string;
  readonly agent?: string | undefined;
  readonly mode?: "followup" | "steer" | "collect" | "interrupt";
  /** Where it is said, and where the answer goes, if not only into the ledger. */
  readonly place?: string | undefined;
  readonly placeKind?: PlaceKind | undefined;
  readonly delivery?: Json | undefined;
}

export interface Sent {
  readonly item: ItemId;
  readonly session: SessionKey;
}

export interface SceneOptions {
  readonly sandbox?: Family["sandbox"];
  /** Beside what every scene has. */
  readonly cortex?: object;
  /** Templates of relays. */
  readonly relays?: object;
  readonly profile?: object;
  /** What the model says, where it is not the obedient one. */
  readonly answer?: (request: ModelRequest) => Reply | Promise<Reply>;
  /** Whether people answer at once what they are asked, most of it with a no. They do, unless told. */
  readonly refuses?: boolean;
  /** What they say yes to. */
  readonly agrees?: (request: Approval) => boolean;
  /** The path on which programs are found, where it is not that of the sandbox's kind. */
  readonly path?: string | undefined;
  /** Puts more into the home before it is opened. */
  readonly prepare?: (home: string, confidences: Readonly<Record<string, string>>) => void;
}

export async function openScene(options: SceneOptions = {}): Promise<Scene> {
  const { sandbox = "missing", cortex = {}, profile = {}, answer = obey, path } = options;
  const { refuses = true, agrees = () => false, relays } = options;
  await using opened = new AsyncDisposableStack();
  const folder = opened.use(temporaryFolder());
  const base = realpathSync(folder.path);
  const [home, outside] = [join(base, "home"), join(base, "outside")];
  const workspace = join(home, "workspaces", "main");
  const secrets: Record<string, string> = {
    file: canary("file"),
    environment: canary("environment"),
    outside: canary("outside"),
    other: canary("other"),
    inside: canary("inside"),
  };
  const confidences = { private: canary("private"), ledger: canary("ledger"), ada: canary("ada") };
  const attacker = opened.use(await openAttacker());
  const inside = opened.use(await openInside(secrets["inside"]!));
  const model = opened.use(await startModelServer({ answer }));

  writeHome(home, {
    cortex: { ...configuration(attacker, sandbox), ...cortex },
    relays,
    profiles: {
      defaultProfile: "obedient",
      profiles: {
        obedient: {
          provider: "openai-compatible",
          baseUrl: model.openaiUrl,
          model: "m",
          apiKeyEnv: "MODEL_KEY",
          ...profile,
        },
      },
    },
  });
  const files: Readonly<Record<string, string>> = {
    [join(home, "config", ".env")]: `SHOP_SECRET=${secrets["file"]}\n`,
    [join(outside, "diary.txt")]: `Dear diary, ${secrets["outside"]}\n`,
    [join(workspace, "private.txt")]: `The number is ${confidences.private}\n`,
    [join(home, "workspaces", "clerk", "plan.txt")]: `The plan is ${secrets["other"]}\n`,
    [join(home, "tmp", "output", "clerk", "long.txt")]: `The plan is ${secrets["other"]}\n`,
    ...Object.fromEntries(
      [...forgedFiles].map(([name, words]) => [join(home, "workspaces", "cashier", name), words]),
    ),
  };
  for (const [path, text] of Object.entries(files)) writeBelow(path, text);
  plantLinks(workspace, outside);
  plantRepositories(workspace);
  options.prepare?.(home, confidences);

  const environment = {
    PATH: path ?? (sandbox === "missing" || sandbox === "required" ? "/nowhere" : process.env["PATH"]),
    HOME: outside,
    MODEL_KEY: secrets["environment"],
  };
  const telegram = playChannel({ name: "telegram" });
  const features = [...FEATURES, { name: "telegram", open: async () => ({ outlets: () => [telegram] }) }];
  const asked: Approval[] = [];
  let running: AsyncDisposableStack | undefined;
  const open = async (): Promise<TestServer> => {
    running = new AsyncDisposableStack();
    const server = running.use(await openTestServer({}, { home, environment, features }));
    if (refuses) running.defer(answerAll(server, asked, agrees));
    return server;
  };
  let served = await open();
  opened.defer(async () => running?.disposeAsync());
  secrets["token"] = served.token;
  const sleep = String(900_000_000 + Math.floor(Math.random() * 99_999_999));
  const known: Readonly<Record<string, string>> = {
    attacker: attacker.url,
    attackerPort: String(attacker.port),
    inside: String(inside.port),
    server: String(served.server.port),
    home,
    outside,
    workspace,
    pid: String(process.pid),
    sleep,
  };
  const guarded = (): Map<string, Buffer> =>
    filesBelow(
      base,
      (name) =>
        !/^home\/(data\/(?!token)|tmp\/|team\/|workspaces\/(main|maker|cashier|roamer|chief-of-staff|x\d))/.test(
          name,
        ) || DECIDES_ON_PROGRAMS.test(name),
    );
  const held = opened.move();
  return {
    get served() {
      return served;
    },
    telegram,
    model,
    attacker,
    inside,
    home,
    outside,
    workspace,
    secrets,
    confidences,
    sleep,
    asked,
    before: guarded(),
    guarded,
    fill: (text) => text.replaceAll(/\{\{(\w+)\}\}/g, (mark, name: string) => known[name] ?? mark),
    send: (content, from, to) => send(content, from, to, served),
    async restart(meanwhile = () => {}) {
      await running!.disposeAsync();
      await meanwhile();
      served = await open();
    },
    [Symbol.asyncDispose]: () => held.disposeAsync(),
  };
}

function configuration({ url }: Attacker, sandbox: Family["sandbox"]): object {
  const everything = { hosts: ["*", "127.0.0.1"], channels: ["webhook", "telegram"] };
  return {
    agents: {
      main: {},
      clerk: { persona: "clerk" },
      roamer: { persona: "roamer" },
      cashier: { persona: "cashier" },
      "maker-0": {},
      "maker-1": {},
    },
    personas: {
      atlas: { answers: "ask", permissions: everything },
      clerk: {
        answers: "ask",
        permissions: {
          tools: {
            deny: [
              "shell",
              "Write",
              "Edit",
              "CodeExec",
              "sub_agent",
              "dispatch_*",
              "send_message_*",
              "*_hook*",
              "relay_*",
            ],
          },
        },
      },
      roamer: { answers: "ask", permissions: { ...everything, roots: ["."] } },
      cashier: { answers: "ask", permissions: { ...everything, ask: ["Write", "Edit"] } },
    },
    sandbox: { there: "auto", missing: "auto", required: "require", off: "off" }[sandbox],
    broker: { retryMs: 0 },
    memory: { tokens: 0 },
    webSearch: { url: `${url}/search?q={query}` },
    channels: {
      webhooks: { attacker: { deliverTo: { url: `${url}/loot/webhook` } } },
      paired: [SENDERS.paired, { ...SENDERS.bob, permissions: { tools: { deny: ["WebFetch"] } } }],
    },
  };
}

function plantLinks(workspace: string, outside: string): void {
  const folder = join(workspace, "links");
  mkdirSync(folder);
  for (const [name, target] of [
    ["file", join(outside, "diary.txt")],
    ["folder", outside],
    ["chain", "file"],
    ["root", "/"],
    ["circle", "circle"],
    ["nowhere", join(outside, "planted.txt")],
  ] as const)
    symlinkSync(target, join(folder, name));
}

/** A person who says no to nearly everything, and is quick about it. Gives what ends it. */
function answerAll(
  { cortex: { store } }: TestServer,
  asked: Approval[],
  agrees: (request: Approval) => boolean,
): () => void {
  const answerTo = (request: Approval) =>
    request.kind === "question"
      ? ({ kind: "answer", text: "no" } as const)
      : ({ kind: agrees(request) ? "approve" : "deny" } as const);
  const look = async (): Promise<void> => {
    for (const request of (await store.approvals.list({ state: "open", limit: MAX_PAGE })).items) {
      await decide(request.id, answerTo(request), OWNER, store).then(
        () => asked.push(request),
        () => {}, // another look was quicker
      );
    }
  };
  return store.onWake("runs", () => void look().catch(() => {})); // a store that is closed asks nobody
}

let sendings = 0;

/** Lets a message in as the authority of its sender has it. */
async function send(
  content: string,
  from: keyof typeof SENDERS,
  { session, agent = "main", mode = "followup", place, placeKind, delivery }: Recipient,
  { cortex }: TestServer,
): Promise<Sent> {
  const key = normalizeSessionKey(session);
  const config = cortex.config();
  const name = `attack-${++sendings}`;
  const event = {
    id: `test:${name}` as EventId,
    ...SENDERS[from],
    direction: "received" as const,
    content,
    atMs: Date.now(),
    ...present({ place, placeKind }),
  };
  const principal = await principalOfEvent(event, cortex.store.people);
  const grant = await grantFor({ ...event, principal }, cortex.store.people);
  if (grant.authority === "guest") throw new Error(`${from} is a guest`);
  const { persona } = config.agents[agent as AgentId] ?? config.agents["main" as AgentId]!;
  const target = { kind: "session", session: key, agent: agent as AgentId, persona } as const;
  const wishes = { mode, source: event, sender: "person" } as const;
  const accepted = await cortex.store.events.accept(
    { ...event, principal },
    {
      dispatch: {
        id: `dispatch-${name}` as DispatchId,
        item: `item-${name}` as ItemId,
        hook: "direct",
        target,
        ...(await queueing(wishes, target, { store: cortex.store, config, clock: Date.now })),
        ...("permissions" in grant ? { permissions: grant.permissions } : {}),
        ...present({ delivery }),
      },
    },
  );
  return { item: accepted.dispatched!.item, session: key };
}

export function writeBelow(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

/** Carries out `!thread …` and `!cancel …`, and makes their replies. */
import { count } from "../../model/count.ts";
import { CortexError } from "../../model/errors.ts";
import type { EventId, RelayId } from "../../model/ids.ts";
import { present } from "../../model/present.ts";
import {
  describeActive,
  describeAgents,
  describeChoice,
  describeList,
  describeRelay,
  describeStarted,
  describeTemplates,
  SHOWN_RELAYS,
} from "./chat-texts.ts";
import { type CancelTarget, RELAY_USAGE, type RelayCommand } from "./chat-command-syntax.ts";
import { unknownRelay } from "../record/kept-relay.ts";
import { isTerminal, type RelayRecord } from "../record/record.ts";
import type { StoredTurn } from "../../store/store.ts";
import { problemsHint } from "../templates/reload-texts.ts";
import type { RelayConfig } from "../templates/snapshot.ts";
import type { Ports } from "../../feature/ports.ts";
import type { ChatOrigin } from "../../intake/chat-commands.ts";
import type { RelayAddition, Relays, RelaySaid } from "../relays.ts";

interface RelayChat extends Pick<Ports, "store" | "clock"> {
  readonly relays: Relays;
}

/** Relays belong to the session in which they were started. */
export async function carryOutRelay(
  command: RelayCommand,
  origin: ChatOrigin,
  chat: RelayChat,
): Promise<string> {
  const { relays } = chat;
  switch (command.kind) {
    case "start":
      return start(command, origin, chat);
    case "add":
      return add(command, origin, chat);
    case "say":
      return say(command, origin, relays);
    case "list":
      return describeList(await listed(command.scope, origin, relays), command.scope);
    case "active":
      return describeActive((await activeIn(origin, relays))[0]);
    case "status": {
      const record =
        command.id === undefined ? await latestIn(origin, relays) : await find(command.id, relays);
      return record === undefined ? describeList([], "here") : describeRelay(record, chat.clock());
    }
    case "cancel":
      return cancel(command.which, origin, chat);
    case "agents":
      return describeAgents(await relays.config(), (await activeIn(origin, relays))[0]);
    case "templates":
      return describeTemplates(await relays.config());
    case "help":
      return RELAY_USAGE;
  }
}

async function start(
  { name, message }: Extract<RelayCommand, { kind: "start" }>,
  { session, event, profile, delivery, audience }: ChatOrigin,
  { relays, store }: RelayChat,
): Promise<string> {
  const config = await relays.config();
  if (!config.templates.has(name) && !config.agents.has(name)) throw nameUnknown(name, config);
  const persona = (await store.sessions.get(session))?.persona;
  const record = await relays.run({
    name,
    message,
    channel: session,
    startedBy: { session, ...(persona === undefined ? {} : { persona }) },
    idempotencyKey: event,
    ...present({ profile, delivery, audience }),
  });
  return describeStarted(record);
}

/** Continues the latest work of the session: a relay, or a turn, which becomes one. */
async function add(
  { agent, message }: Extract<RelayCommand, { kind: "add" }>,
  origin: ChatOrigin,
  { relays, store }: RelayChat,
): Promise<string> {
  const config = await relays.config();
  if (!config.agents.has(agent)) throw agentUnknown(agent, config);
  const [newest] = await listed("here", origin, relays);
  const { head } = (await store.sessions.get(origin.session)) ?? {};
  const turn = head === undefined ? undefined : await store.turns.get(head);
  const after = latestOf(newest, turn);
  if (after === undefined) throw nothingToAddTo();
  const record = await relays.add({ ...after, agent, ...present({ message, delivery: origin.delivery }) });
  return describeStarted(record);
}

/** A waiting relay takes precedence over newer turns, because the person is looking at it. */
function latestOf(
  relay: RelayRecord | undefined,
  turn: StoredTurn | undefined,
): Pick<RelayAddition, "id" | "turn"> | undefined {
  if (relay === undefined) return turn === undefined ? undefined : { turn: turn.id };
  const isTurnNewer = turn !== undefined && turn.completedAtMs > Date.parse(relay.updatedAt);
  return isTurnNewer && relay.status !== "waiting" ? { turn: turn.id } : { id: relay.id };
}

async function say(
  { id, text }: Extract<RelayCommand, { kind: "say" }>,
  origin: ChatOrigin,
  relays: Relays,
): Promise<string> {
  const active = id === undefined ? await activeIn(origin, relays) : [await find(id, relays)];
  const [relay] = active;
  if (relay === undefined) throw nothingToSayTo();
  if (active.length > 1) return describeChoice(active, "!thread say <id> <text>");
  const said = await relays.say(relay.id, text, { event: origin.event, caller: origin.caller });
  return describeSaid(relay.id, said);
}

function describeSaid(id: string, { buffered, dropped, answered }: RelaySaid): string {
  if (answered !== null) return `Answered \`${id}\`.`;
  const lost = dropped === 0 ? "" : `, ${dropped} earlier dropped`;
  return `Buffered for the next step of \`${id}\`: ${count(buffered, "message")}${lost}.`;
}

async function cancel(which: CancelTarget, origin: ChatOrigin, chat: RelayChat): Promise<string> {
  const { relays } = chat;
  if (typeof which === "object") {
    const { id } = which;
    const found = await find(id, relays);
    if (!(await mayCancel(found, origin, chat))) throw notTheirs(id);
    return (await relays.cancel(id)) ? `Cancelled \`${id}\`.` : `\`${id}\` has already ended.`;
  }
  const asked = await cancellable(which, origin, chat);
  if (which === "here" && asked.length > 1) return describeChoice(asked, "!cancel <id>");
  const cancelled: string[] = [];
  for (const { id } of asked) if (await relays.cancel(id)) cancelled.push(`\`${id}\``);
  if (cancelled.length > 0) return `Cancelled ${cancelled.join(", ")}.`;
  const isStopped = which === "here" && (await origin.stopTurn?.()) === true;
  return isStopped ? "Stopped the current turn." : "Nothing running to cancel.";
}

/** Of a member, everything of theirs that runs: relays that hooks start for their messages belong to no session. */
async function cancellable(
  which: "here" | "all",
  origin: ChatOrigin,
  chat: RelayChat,
): Promise<readonly RelayRecord[]> {
  const { relays } = chat;
  if (origin.member === undefined)
    return which === "all" ? listed("running", origin, relays) : activeIn(origin, relays);
  const theirs: RelayRecord[] = [];
  for (const record of await listed("running", origin, relays))
    if (await mayCancel(record, origin, chat)) theirs.push(record);
  return theirs;
}

async function mayCancel(
  { metadata }: RelayRecord,
  { member }: ChatOrigin,
  { store }: Pick<RelayChat, "store">,
): Promise<boolean> {
  if (member === undefined) return true;
  const { event } = (metadata ?? {}) as { readonly event?: EventId };
  return event !== undefined && (await store.events.get(event))?.principal === member;
}

/** How many relays `--all` cancels, and `--running` lists, at once. */
const MAX_RUNNING = 1_000;

async function listed(
  scope: "here" | "running",
  { session }: ChatOrigin,
  relays: Relays,
): Promise<readonly RelayRecord[]> {
  const options =
    scope === "running" ? { running: true, limit: MAX_RUNNING } : { channel: session, limit: SHOWN_RELAYS };
  return (await relays.list(options)).items;
}

/** Newest first. */
async function activeIn({ session }: ChatOrigin, relays: Relays): Promise<readonly RelayRecord[]> {
  const options = { channel: session, running: true, limit: SHOWN_RELAYS };
  return (await relays.list(options)).items.filter((record) => !isTerminal(record));
}

/** The running relay, else the latest. */
async function latestIn(origin: ChatOrigin, relays: Relays): Promise<RelayRecord | undefined> {
  const [active] = await activeIn(origin, relays);
  return active ?? (await listed("here", origin, relays))[0];
}

async function find(id: RelayId, relays: Relays): Promise<RelayRecord> {
  const record = await relays.get(id);
  if (record !== undefined) return record;
  throw unknownRelay(
    id,
    "`!thread list` lists the relays of this place, `!thread list --running` all running ones.",
  );
}

function notTheirs(id: RelayId): CortexError {
  return new CortexError("approval_forbidden", `You did not start \`${id}\``, {
    hint: "You can only cancel what your own messages have started.",
  });
}

function nameUnknown(name: string, config: RelayConfig): CortexError {
  const shown = name.slice(0, 80).toWellFormed();
  return new CortexError("template_unknown", `Unknown template or agent: \`${shown}\``, {
    hint: `Use \`!thread templates\` or \`!thread agents\`.${problemsHint(config)}`,
  });
}

function agentUnknown(name: string, config: RelayConfig): CortexError {
  const shown = name.slice(0, 80).toWellFormed();
  return new CortexError("agent_unknown", `Unknown agent: \`${shown}\``, {
    hint: `Use \`!thread agents\`.${problemsHint(config)}`,
  });
}

function nothingToSayTo(): CortexError {
  return new CortexError("relay_unknown", "No thread is running in this channel", {
    hint: "`!thread list --running` lists relays elsewhere; `!thread say <id> <text>` sends a message to one of them.",
  });
}

function nothingToAddTo(): CortexError {
  return new CortexError("relay_unknown", "No thread found in this channel to add an agent to", {
    hint: "`!thread <template or agent> <message>` starts one.",
  });
}

/** A task as a message to a member's session: who works on it, where, with which tools, and what stays closed. */
import { join } from "node:path";

import { TEAM_ADAPTER } from "../../model/event.ts";
import type { AgentId, DispatchId, ItemId, PersonaId } from "../../model/ids.ts";
import { present } from "../../model/present.ts";
import { OWNER_PRINCIPAL } from "../../model/principal.ts";
import { isUnlabelled, isWithin, type Label, labelJson, NO_LABEL, OWNERS } from "../../model/trust.ts";
import { agentFor } from "../../personas/lookup.ts";
import { buildSessionKey, type SessionKey } from "../../model/session-key.ts";
import type { Worker } from "../../model/worker.ts";
import type { NewEvent, TeamGift, TeamOrder } from "../../store/store.ts";
import type { CurrentTask, MemberState } from "./member-state.ts";
import type { TaskWords } from "./task-labels.ts";
import { causeOfTask, eventOfWork } from "./task-causes.ts";
import { COORDINATOR_TOOLS, FLAG_TOOL } from "./tool-names.ts";
import type { Workplace } from "./workplace.ts";

/** The hook name under which teams order turns. */
export const TEAM_HOOK = "team";
/** Tools that would bypass the files, through which all coordination goes. */
const PAST_THE_FILES = ["dispatch_to_agent", "send_message_to_agent", "relay_start"];
/** Workers neither message people nor give themselves work. */
const NOT_FOR_WORKERS = ["message", "reply_to_caller", "create_hook", "enable_hook", "disable_hook"];

/** Who works on a task, and where. */
export interface Assignee {
  readonly slug: string;
  readonly isCoordinator: boolean;
  /** The folder it works in. Absolute. */
  readonly project: string;
  /** The coordinator's job, for its system prompt. */
  readonly duty?: string;
  /** Of the note that it quotes. */
  readonly dutyLabel?: Label;
}

interface Order {
  readonly prompt: string;
  /** Of the prompt. */
  readonly words: TaskWords;
  readonly work: CurrentTask;
  readonly state: MemberState;
}

export function turnOrder(
  { prompt, words, work, state }: Order,
  assignee: Assignee,
  { team: { root }, clock, mintId, settings }: Workplace,
): TeamOrder {
  const { slug } = assignee;
  const { title, ordinal } = work;
  const who = agentOf(assignee, settings);
  const cause = causeOfTask(work.gist, state);
  return {
    team: root,
    member: slug,
    state: { ...state, work },
    event: {
      id: eventOfWork(work),
      channel: TEAM_ADAPTER,
      direction: "sent",
      sender: slug,
      content: prompt,
      metadata: { team: root, member: slug, task: title, ordinal },
      ...(cause === undefined ? {} : { cause }),
      ...labelAndPrincipal(words),
      atMs: clock(),
    },
    dispatch: {
      id: mintId() as DispatchId,
      item: mintId() as ItemId,
      hook: TEAM_HOOK,
      target: { kind: "session", session: sessionOf(who.agent), ...who },
      mode: "followup",
      ...present({ permissions: words.permissions }),
    },
    worker: workerOf(assignee, root),
  };
}

/** As an event has them. The owner's own words need neither. */
export function labelAndPrincipal({ label, principal }: TaskWords): Pick<NewEvent, "label" | "principal"> {
  return {
    ...(isWithin(label, OWNERS) ? {} : { label }),
    ...(principal === OWNER_PRINCIPAL ? {} : { principal }),
  };
}

/** Creates the session of a member before its first message. */
export function giftFor(assignee: Assignee, { team, settings }: Workplace): TeamGift {
  const who = agentOf(assignee, settings);
  return { session: sessionOf(who.agent), ...who, worker: workerOf(assignee, team.root) };
}

/** The agent and persona that work for a member, in its project. */
export function agentOf(
  { slug, project }: Assignee,
  settings: Workplace["settings"],
): { readonly agent: AgentId; readonly persona: PersonaId } {
  const { id: agent, personaId: persona } = agentFor(settings.config(), slug, { folder: project });
  return { agent, persona };
}

type Narrowing = { readonly tools: { readonly deny: readonly string[] } };

/** What a team turn may not do, whoever writes the message. */
export function narrowingFor({ isCoordinator }: Pick<Assignee, "isCoordinator">): Narrowing {
  return { tools: { deny: isCoordinator ? PAST_THE_FILES : [...PAST_THE_FILES, ...NOT_FOR_WORKERS] } };
}

/** The session of a member that Cortex runs, for all of its work. */
export function memberSession(slug: string): SessionKey {
  return sessionOf(slug as AgentId);
}

function sessionOf(agent: AgentId): SessionKey {
  return buildSessionKey({ kind: "main", agent });
}

/** A type alias, which the compiler accepts as JSON. */
type TeamWorker = Pick<
  Worker,
  "permissions" | "workspace" | "hidden" | "tools" | "role" | "coordinates" | "duty" | "dutyLabel"
>;

function workerOf(assignee: Assignee, root: string): TeamWorker {
  const { project, isCoordinator, duty, dutyLabel = NO_LABEL } = assignee;
  return {
    permissions: narrowingFor(assignee),
    workspace: project,
    hidden: closedTo(root),
    tools: isCoordinator ? [...COORDINATOR_TOOLS, FLAG_TOOL] : [FLAG_TOOL],
    ...(isCoordinator ? { role: "manager", coordinates: true } : {}),
    ...(duty === undefined ? {} : { duty }),
    ...(isUnlabelled(dutyLabel) ? {} : { dutyLabel: labelJson(dutyLabel) }),
  };
}

/** Only Cortex writes the team's files. The subfolders stay closed even if a persona's roots open the folder above. */
export function closedTo(root: string): string[] {
  return [root, ...["agents", ".cortex", ".git"].map((name) => join(root, name))];
}

/** A task as a message to the session of a member: who works on it, where, with what, and what stays closed. */
import { join } from "node:path";

import { TEAM_ADAPTER } from "../../model/event.ts";
import type { AgentId, DispatchId, ItemId, PersonaId } from "../../model/ids.ts";
import type { Json } from "../../model/json.ts";
import { buildSessionKey, type SessionKey } from "../../model/session-key.ts";
import type { Worker } from "../../model/worker.ts";
import type { TeamGift, TeamOrder } from "../../store/store.ts";
import { type MemberState, type Work, writeState } from "./member-state.ts";
import { causeOfTask, eventOfWork } from "./task-causes.ts";
import { COORDINATOR_TOOLS, FLAG_TOOL } from "./tool-names.ts";
import type { WorkParts } from "./workplace.ts";

/** The name of the hook that stands for a team. */
export const TEAM_HOOK = "team";
/** All coordination goes through the files: nobody writes to another member past them. */
const PAST_THE_FILES = ["dispatch_to_agent", "send_message_to_agent", "relay_start"];
/** What else workers have no use for, because they neither talk to people nor give themselves work. */
const NOT_FOR_WORKERS = ["message", "reply_to_caller", "create_hook", "enable_hook", "disable_hook"];

export interface Given {
  readonly slug: string;
  readonly isCoordinator: boolean;
  /** Where it works. Absolute. */
  readonly project: string;
  /** What the coordinator is told of its job. */
  readonly duty?: string;
}

export function orderTurn(
  { prompt, work, state }: { readonly prompt: string; readonly work: Work; readonly state: MemberState },
  given: Given,
  { folder, clock, mintId, agentFor }: Pick<WorkParts, "folder" | "clock" | "mintId" | "agentFor">,
): TeamOrder {
  const { slug, project } = given;
  const { title, ordinal } = work;
  const who = agentFor(slug, project);
  const cause = causeOfTask(work.gist, state);
  return {
    team: folder.root,
    member: slug,
    state: writeState({ ...state, work }),
    event: {
      id: eventOfWork(work),
      channel: TEAM_ADAPTER,
      direction: "sent",
      sender: slug,
      content: prompt,
      metadata: { team: folder.root, member: slug, task: title, ordinal },
      ...(cause === undefined ? {} : { cause }),
      atMs: clock(),
    },
    dispatch: {
      id: mintId() as DispatchId,
      item: mintId() as ItemId,
      hook: TEAM_HOOK,
      target: { kind: "session", session: sessionOf(who.agent), ...who },
      mode: "followup",
    },
    worker: workerOf(given, folder.root) as unknown as Json,
  };
}

/** What the session of a member is given before anybody writes to it. */
export function giftFor(
  given: Given,
  { folder, agentFor }: Pick<WorkParts, "folder" | "agentFor">,
): TeamGift {
  const who: { agent: AgentId; persona: PersonaId } = agentFor(given.slug, given.project);
  return {
    session: sessionOf(who.agent),
    ...who,
    worker: workerOf(given, folder.root) as unknown as Json,
  };
}

/** What nobody in a team turn may do, whoever writes the message. */
export function narrowingFor({ isCoordinator }: Pick<Given, "isCoordinator">): Json {
  return { tools: { deny: isCoordinator ? PAST_THE_FILES : [...PAST_THE_FILES, ...NOT_FOR_WORKERS] } };
}

function sessionOf(agent: AgentId): SessionKey {
  return buildSessionKey({ kind: "main", agent });
}

function workerOf(given: Given, root: string): Worker {
  const { project, isCoordinator, duty } = given;
  return {
    permissions: narrowingFor(given),
    workspace: project,
    hidden: closedTo(root),
    tools: isCoordinator ? [...COORDINATOR_TOOLS, FLAG_TOOL] : [FLAG_TOOL],
    ...(isCoordinator ? { role: "manager", coordinates: true } : {}),
    ...(duty === undefined ? {} : { duty }),
  };
}

/** The files of the team are kept by Cortex. Those named stay closed also where a persona's roots open the folder around them. */
export function closedTo(root: string): string[] {
  return [root, ...["agents", ".cortex", ".git"].map((name) => join(root, name))];
}

/**
 * What the coordinator does at its heartbeat without being asked: it ticks, looks at everybody, tells people what has
 * changed, and sends briefing and review at their times. All of it is computed from the files.
 */
import { createHash } from "node:crypto";

import { dateOf } from "../../model/day.ts";
import type { EventId } from "../../model/ids.ts";
import type { TeamGift } from "../../store/store.ts";
import { type Concern, concernsOf, formatConcerns, type Looked } from "../reports/attention.ts";
import { briefingFacts, formatBriefing } from "../reports/briefing.ts";
import { type Daily, type DailyTimes, dueDaily } from "./daily.ts";
import { coordinatorDuty } from "./duty.ts";
import type { Blocked } from "../reports/facts.ts";
import { flagOf } from "../markdown/flag.ts";
import { formatHousekeeping, type Housekept } from "../reports/housekeeping.ts";
import { findProject, readMember } from "../members/member-files.ts";
import { type Duty, type MemberState, readState, writeState } from "./member-state.ts";
import { type Notice, orderNotice } from "./order-notice.ts";
import { giftFor } from "./order-turn.ts";
import { formatReview, reviewFacts } from "../reports/review.ts";
import { toStamp } from "../markdown/stamp.ts";
import { causeOfFlag } from "./task-causes.ts";
import { COORDINATOR, findMember, type Team } from "../files/team.ts";
import type { WorkParts } from "./workplace.ts";

export interface CoordinatorParts extends Pick<
  WorkParts,
  "folder" | "store" | "clock" | "mintId" | "timezone" | "user" | "workspaceOf" | "agentFor"
> {
  readonly readTeam: () => Promise<Team>;
  readonly housekeep: (team: Team) => Promise<Housekept>;
  readonly times: () => DailyTimes;
  /** Sends it to where the owner reads it. The same id again is sent once. */
  readonly tell: (message: { readonly id: string; readonly text: string }) => Promise<void>;
  /** Sends them to the coordinator's own session, and what it answers to where the owner reads. The same again is sent once. */
  readonly ask: (notices: readonly Notice[]) => Promise<void>;
}

/** The caller sees to it that no two of them are at work at once. `isTick`: also write the comment of the tick. */
export async function coordinate(
  { isTick, ...looked }: Looked & { readonly isTick: boolean },
  parts: CoordinatorParts,
): Promise<{ readonly told: number }> {
  const { folder, store, clock, timezone } = parts;
  const nowMs = clock();
  let state = readState((await store.team.get(folder.root, COORDINATOR))?.state);
  if (isTick) {
    const member = await readMember(COORDINATOR, folder);
    const tick = toStamp(nowMs, timezone());
    await folder.edit(member.tasksPath, { file: "tasks", edit: { kind: "tick", stamp: tick } });
    state = { ...state, tickMs: nowMs, tick };
  }
  const { duty: known } = state;
  // A clock that was ahead when we began would keep everything from being due until then.
  const sinceMs = Math.min(known?.sinceMs ?? nowMs, nowMs);
  const before: Duty = { told: [], ...known, sinceMs };
  const team = await parts.readTeam();
  const concerns = concernsOf(team, looked);
  const fresh = concerns.filter(({ key }) => !before.told.includes(key));
  if (fresh.length > 0) {
    const id = idOf(folder.root, fresh.map(({ key }) => key).join("\n"));
    await parts.tell({ id, text: formatConcerns(fresh) });
    await askAbout(fresh, team, parts);
  }
  let duty: Duty = { ...before, told: concerns.map(({ key }) => key), given: await givenNow(parts) };
  if (isTick || JSON.stringify(duty) !== JSON.stringify(state.duty)) await keep({ ...state, duty }, parts);
  for (const kind of dueDaily(duty, parts.times(), { nowMs, timezone: timezone() })) {
    const date = dateOf(nowMs, timezone());
    const text = kind === "briefing" ? formatBriefing(briefingFacts(team)) : await reviewText(team, parts);
    await parts.tell({ id: idOf(folder.root, `${kind}:${date}`), text });
    duty = withDay(duty, kind, date);
    await keep({ ...state, duty }, parts);
  }
  return { told: fresh.length };
}

/** Of its own tasks it knows: it has flagged them itself. */
async function askAbout(concerns: readonly Concern[], team: Team, parts: CoordinatorParts): Promise<void> {
  const { folder, clock, mintId, ask } = parts;
  const flags = concerns.flatMap(({ key, flag }) =>
    flag === undefined || flag.member.slug === COORDINATOR ? [] : [{ key, flag }],
  );
  const gift = flags.length === 0 ? undefined : await findGift(parts);
  if (gift === undefined) return; // without a project it has no session
  const notices: Notice[] = [];
  for (const { key, flag } of flags) {
    const cause = await causeOf(flag, team, parts);
    notices.push(orderNotice({ key, flag, cause }, gift, { team: folder.root, clock, mintId }));
  }
  await ask(notices);
}

async function causeOf(
  { member: { slug }, title, reason, since }: Blocked,
  team: Team,
  { store, folder }: CoordinatorParts,
): Promise<EventId | undefined> {
  const task = findMember(team, slug)?.tasks.tasks.find((each) => {
    const flag = flagOf(each);
    return each.title === title && flag?.stamp === since && flag?.reason === reason;
  });
  return task === undefined ? undefined : causeOfFlag(task, await store.team.get(folder.root, slug));
}

/** Makes the session of the coordinator, or gives it what it has now. */
export async function introduce(parts: CoordinatorParts): Promise<void> {
  const { store, folder } = parts;
  await keep(readState((await store.team.get(folder.root, COORDINATOR))?.state), parts);
}

/** With its session, so that people can write to it before it has had any task. */
async function keep(state: MemberState, parts: CoordinatorParts): Promise<void> {
  const { folder, store } = parts;
  const give = await findGift(parts);
  await store.team.keep({
    team: folder.root,
    member: COORDINATOR,
    state: writeState(state),
    ...(give === undefined ? {} : { give }),
  });
}

/** Undefined: there is no folder that it could work in. */
async function findGift(parts: CoordinatorParts): Promise<TeamGift | undefined> {
  const { folder } = parts;
  const member = await readMember(COORDINATOR, folder);
  const project = await findProject(member, { ...parts, root: folder.root });
  if (project.kind === "missing") return undefined;
  const duty = coordinatorDuty(member, folder.root);
  return giftFor({ slug: COORDINATOR, isCoordinator: true, project: project.path, duty }, parts);
}

/** So that its session is given anew what it has, where its note or its project says something else. */
async function givenNow(parts: CoordinatorParts): Promise<string> {
  return createHash("sha256")
    .update(JSON.stringify(await findGift(parts)) ?? "")
    .digest("hex")
    .slice(0, 16);
}

function withDay(duty: Duty, kind: Daily, date: string): Duty {
  return { ...duty, [kind]: date };
}

/** What got done is told before any of it is taken out. */
async function reviewText(team: Team, { housekeep }: CoordinatorParts): Promise<string> {
  const text = formatReview(reviewFacts(team));
  return `${text}\nHousekeeping: ${formatHousekeeping(await housekeep(team))}\n`;
}

function idOf(root: string, what: string): string {
  return `team-${createHash("sha256").update(`${root}\n${what}`).digest("hex").slice(0, 24)}`;
}

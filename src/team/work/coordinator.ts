/**
 * What the coordinator does at its heartbeat: it ticks, checks on everybody, tells people what has changed, and sends
 * briefing and review at their times. All of it is computed from the files.
 */
import { createHash } from "node:crypto";

import { dateOf } from "../../model/day.ts";
import type { EventId } from "../../model/ids.ts";
import type { TeamGift } from "../../store/store.ts";
import { type Concern, concernsOf, formatConcerns, type Looked } from "../reports/attention.ts";
import { composeBriefing } from "../reports/briefing.ts";
import { type Daily, dailyTimes, dueDaily } from "./daily.ts";
import { coordinatorDuty } from "./duty.ts";
import type { Blocked } from "../reports/facts.ts";
import { flagOf } from "../markdown/flag.ts";
import { formatHousekeeping, housekeep } from "../reports/housekeeping.ts";
import { findProject, readMember } from "../members/member-files.ts";
import { type Duty, type MemberState, readMemberState } from "./member-state.ts";
import { type Notice, orderNotice } from "./order-notice.ts";
import { giftFor } from "./order-turn.ts";
import { composeReview } from "../reports/review.ts";
import { toStamp } from "../markdown/stamp.ts";
import { causeOfFlag } from "./task-causes.ts";
import { COORDINATOR, findMember, type Team } from "../files/team.ts";
import { askCoordinator, tellOwner } from "./tell-owner.ts";
import type { Workplace } from "./workplace.ts";

/** Must not run twice at once. `isTick`: also write the tick comment. */
export async function coordinate(
  { isTick, ...looked }: Looked & { readonly isTick: boolean },
  place: Workplace,
): Promise<{ readonly told: number }> {
  const { timezone, config } = place.team;
  const nowMs = place.clock();
  const kept = await readKept(place);
  const state = isTick ? await writeTick(kept, nowMs, place) : kept;
  const { duty: known } = state;
  // A clock that was ahead at first would postpone everything until then.
  const sinceMs = Math.min(known?.sinceMs ?? nowMs, nowMs);
  const before: Duty = { told: [], ...known, sinceMs };
  const team = await place.team.read();
  const concerns = concernsOf(team, looked);
  const fresh = concerns.filter(({ key }) => !before.told.includes(key));
  if (fresh.length > 0) {
    await tellOwner(fresh.map(({ key }) => key).join("\n"), formatConcerns(fresh), place);
    await askAbout(fresh, team, place);
  }
  let duty: Duty = { ...before, told: concerns.map(({ key }) => key), given: await giftDigest(place) };
  if (isTick || JSON.stringify(duty) !== JSON.stringify(state.duty)) await keep({ ...state, duty }, place);
  for (const kind of dueDaily(duty, dailyTimes(config), { nowMs, timezone })) {
    const date = dateOf(nowMs, timezone);
    const text = kind === "briefing" ? composeBriefing(team).text : await reviewText(team, place);
    await tellOwner(`${kind}:${date}`, text, place);
    duty = withDay(duty, kind, date);
    await keep({ ...state, duty }, place);
  }
  return { told: fresh.length };
}

function withDay(duty: Duty, kind: Daily, date: string): Duty {
  return { ...duty, [kind]: date };
}

async function readKept({ store, team }: Workplace): Promise<MemberState> {
  return readMemberState((await store.team.get(team.root, COORDINATOR))?.state);
}

async function writeTick(state: MemberState, tickMs: number, { team }: Workplace): Promise<MemberState> {
  const { tasksPath } = await readMember(COORDINATOR, team.folder);
  const tick = toStamp(tickMs, team.timezone);
  await team.folder.edit(tasksPath, { file: "tasks", edit: { kind: "tick", stamp: tick } });
  return { ...state, tickMs, tick };
}

/** Except about its own tasks: it flagged those itself. */
async function askAbout(concerns: readonly Concern[], team: Team, place: Workplace): Promise<void> {
  const flags = concerns.flatMap(({ key, flag }) =>
    flag === undefined || flag.member.slug === COORDINATOR ? [] : [{ key, flag }],
  );
  const gift = flags.length === 0 ? undefined : await findGift(place);
  if (gift === undefined) return; // without a project it has no session
  const notices: Notice[] = [];
  for (const { key, flag } of flags) {
    const cause = await causeOf(flag, team, place);
    notices.push(orderNotice({ key, flag, cause }, gift, place));
  }
  await askCoordinator(notices, place);
}

async function causeOf(
  { member: { slug }, title, reason, since }: Blocked,
  team: Team,
  { store }: Workplace,
): Promise<EventId | undefined> {
  const task = findMember(team, slug)?.tasks.tasks.find((each) => {
    const flag = flagOf(each);
    return each.title === title && flag?.stamp === since && flag?.reason === reason;
  });
  return task === undefined ? undefined : causeOfFlag(task, await store.team.get(team.root, slug));
}

/** Creates the session of the coordinator, or updates what it is given. */
export async function introduce(place: Workplace): Promise<void> {
  await keep(await readKept(place), place);
}

/** Keeps its session too, so that people can write to it before it has had any task. */
async function keep(state: MemberState, place: Workplace): Promise<void> {
  const give = await findGift(place);
  await place.store.team.keep({
    team: place.team.root,
    member: COORDINATOR,
    state,
    ...(give === undefined ? {} : { give }),
  });
}

/** Undefined: there is no folder that it could work in. */
async function findGift(place: Workplace): Promise<TeamGift | undefined> {
  const { root, folder } = place.team;
  const member = await readMember(COORDINATOR, folder);
  const project = await findProject(member, place);
  if (project.kind === "missing") return undefined;
  const duty = coordinatorDuty(member, root);
  return giftFor({ slug: COORDINATOR, isCoordinator: true, project: project.path, duty }, place);
}

/** Changes with its note and its project, so that its session is updated then. */
async function giftDigest(place: Workplace): Promise<string> {
  return createHash("sha256")
    .update(JSON.stringify(await findGift(place)) ?? "")
    .digest("hex")
    .slice(0, 16);
}

/** The review lists what got done before housekeeping removes any of it. */
async function reviewText(
  team: Team,
  { team: { folder, timezone }, clock, environment }: Workplace,
): Promise<string> {
  const { text } = composeReview(team);
  const report = await housekeep(folder, team, { nowMs: clock(), timezone, environment });
  return `${text}\nHousekeeping: ${formatHousekeeping(report)}\n`;
}

/**
 * The coordinator's heartbeat: it ticks, checks on all members, reports changes to people, and sends briefing and review on
 * time. Everything is computed from the files.
 */
import { hash } from "node:crypto";

import { dateOf } from "../../model/day.ts";
import { enabledAccount } from "../../config/channel-accounts.ts";
import { DEFAULT_ACCOUNT, type DeliveryId, type EventId, type ItemId } from "../../model/ids.ts";
import { SILENCE } from "../../model/reply-tool.ts";
import type { DeliveryTarget, TeamGift } from "../../store/store.ts";
import { type Care, type Concern, concernsOf, formatConcerns } from "../reports/attention.ts";
import { composeBriefing, composeReview } from "../reports/daily-reports.ts";
import { dailyTimes, dueDaily } from "./daily.ts";
import { dutyOf } from "./duty.ts";
import type { Blocked } from "../reports/facts.ts";
import { flagOf } from "../markdown/flag.ts";
import { formatHousekeeping, housekeep } from "../reports/housekeeping.ts";
import { findProject, readMember } from "../members/member-files.ts";
import { type Duty, type MemberState, readMemberState } from "./member-state.ts";
import { type Notice, orderNotice } from "./order-notice.ts";
import { giftFor } from "./order-turn.ts";
import { toStamp } from "../markdown/stamp.ts";
import { causeOfFlag } from "./task-causes.ts";
import { COORDINATOR, findMember, type Team, tasksPathOf } from "../files/team.ts";
import { readTurnEnd } from "./work-end.ts";
import type { Workplace } from "./workplace.ts";

/** Must not run concurrently. `isTick`: also write the tick comment. */
export async function coordinate(
  { isTick, ...care }: Care & { readonly isTick: boolean },
  place: Workplace,
): Promise<{ readonly told: number }> {
  const { timezone, config } = place.team;
  const nowMs = place.clock();
  const kept = await readKept(place);
  const state = isTick ? await writeTick(kept, nowMs, place) : kept;
  const { duty: known } = state;
  // A clock that was ahead at first would otherwise postpone everything.
  const sinceMs = Math.min(known?.sinceMs ?? nowMs, nowMs);
  const before: Duty = { told: [], ...known, sinceMs };
  const team = await place.team.read();
  const concerns = concernsOf(team, care);
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
    duty = Object.assign({}, duty, { [kind]: date });
    await keep({ ...state, duty }, place);
  }
  return { told: fresh.length };
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

/** Asks the coordinator about flags, except those of its own tasks. */
async function askAbout(concerns: readonly Concern[], team: Team, place: Workplace): Promise<void> {
  const flags = concerns.flatMap(({ key, flag }) =>
    flag === undefined || flag.member.slug === COORDINATOR ? [] : [{ key, flag }],
  );
  const gift = flags.length === 0 ? undefined : await findGift(place);
  if (gift === undefined) return; // without a project it has no session
  const notices: Notice[] = [];
  for (const { key, flag } of flags) {
    const cause = await causeOf(flag, team, place);
    const label = await place.labels.ofFiles([tasksPathOf(flag.member.slug)]);
    notices.push(orderNotice({ key, flag, cause, label }, gift, place));
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

/** Creates or updates the session of the coordinator. */
export async function introduce(place: Workplace): Promise<void> {
  await keep(await readKept(place), place);
}

/** Also creates its session, so that people can write to it before its first task. */
async function keep(state: MemberState, place: Workplace): Promise<void> {
  const give = await findGift(place);
  await place.store.team.keep({
    team: place.team.root,
    member: COORDINATOR,
    state,
    ...(give === undefined ? {} : { give }),
  });
}

/** Undefined: it has no folder to work in. */
async function findGift(place: Workplace): Promise<TeamGift | undefined> {
  const { folder } = place.team;
  const member = await readMember(COORDINATOR, folder);
  const project = await findProject(member, place);
  if (project.kind === "missing") return undefined;
  const duty = await dutyOf(member, place);
  return giftFor({ slug: COORDINATOR, isCoordinator: true, project: project.path, ...duty }, place);
}

/** Changes with its note and its project, so that its session is updated then. */
async function giftDigest(place: Workplace): Promise<string> {
  return hash("sha256", JSON.stringify(await findGift(place)) ?? "").slice(0, 16);
}

/** The review lists finished tasks before housekeeping removes them. */
async function reviewText(
  team: Team,
  { team: { folder, timezone }, clock, environment }: Workplace,
): Promise<string> {
  const { text } = composeReview(team);
  const report = await housekeep(folder, team, { nowMs: clock(), timezone, environment });
  return `${text}\nHousekeeping: ${formatHousekeeping(report)}\n`;
}

const TELEGRAM = "telegram";

/** Sends a text to the owner. Idempotent by `key`. */
async function tellOwner(key: string, text: string, place: Workplace): Promise<void> {
  const target = reportTarget(place);
  if (target === undefined) return place.log(text.trimEnd());
  const digest = hash("sha256", `${place.team.root}\n${key}`).slice(0, 24);
  await place.store.outbox.notify({ id: `team-${digest}` as DeliveryId, target, content: text });
}

/** Sends notices to the coordinator's session, and its answers to the owner. Each notice is sent once. */
async function askCoordinator(notices: readonly Notice[], place: Workplace): Promise<void> {
  const target = reportTarget(place);
  const sent: ItemId[] = [];
  for (const notice of notices) sent.push(...(await send(notice, target, place)));
  if (sent.length === 0 || target !== undefined) return;
  logAnswers(sent, place).catch((error: unknown) => {
    if (!place.closing.aborted)
      place.log(`Cannot deliver the coordinator's answer; it remains in its session: ${String(error)}`);
  });
}

/** The team's chat on Telegram, else the configured `admin`. Undefined: the log. A channel that is down gets it later. */
function reportTarget({ team, settings }: Workplace): DeliveryTarget | undefined {
  const { telegramChatId: place } = team.config;
  const config = settings.config();
  const telegram = place === undefined ? undefined : enabledAccount(config, TELEGRAM);
  if (place === undefined || telegram === undefined) return config.admin;
  const { account } = telegram;
  return { channel: TELEGRAM, place, ...(account === DEFAULT_ACCOUNT ? {} : { account }) };
}

/** The coordinator's session inherits the labels of the member's session, whose words the notice repeats. */
async function send(
  { event, dispatch, from }: Notice,
  target: DeliveryTarget | undefined,
  { store, slots }: Workplace,
): Promise<ItemId[]> {
  const isKnown = (await store.sessions.get(from)) !== undefined;
  const marked = {
    ...dispatch,
    ...(target === undefined ? {} : { delivery: { ...target } }),
    ...(isKnown ? { from } : {}),
  };
  const { fresh, dispatched } = await slots.withSlot(async (claim) => {
    const result = await store.events.accept(event, {
      dispatch: marked,
      ...(claim === undefined ? {} : { claim }),
    });
    return { result, claim: result.dispatched?.claim };
  });
  return fresh && dispatched !== undefined ? [dispatched.item] : [];
}

/** One turn may answer several notices. */
async function logAnswers(
  items: readonly ItemId[],
  { store, outcomes, closing, log }: Workplace,
): Promise<void> {
  const ends = items.map(async (item) => {
    await outcomes.wait(item, closing);
    return readTurnEnd(item, store);
  });
  const answers = (await Promise.all(ends)).flatMap((end) =>
    end?.kind === "done" ? [end.summary.trim()] : [],
  );
  for (const answer of new Set(answers)) if (answer !== SILENCE && answer !== "") log(answer);
}

/** The JSON forms of accounts and of what a probe found. */
import { isoTime } from "../../feature/views.ts";
import type { OpenDeliveries } from "../../store/store.ts";
import type { Finding } from "../channel.ts";
import type { AccountFindings, AccountStatus } from "./account-status.ts";

export function channelViews(accounts: readonly AccountStatus[], open: readonly OpenDeliveries[]) {
  return accounts.map((status) => {
    const { channel, account, state, sinceMs, lastProofAtMs, lastEventAtMs, error, ack } = status;
    const deliveries = open.find((each) => each.channel === channel && each.account === account);
    return {
      name: channel,
      account,
      state,
      since: isoTime(sinceMs),
      lastProofAt: timeOrNull(lastProofAtMs),
      lastEventAt: timeOrNull(lastEventAtMs),
      error: error ?? null,
      node: null,
      mayLose: ack === "before",
      waiting: deliveries?.waiting ?? 0,
      dead: deliveries?.dead ?? 0,
    };
  });
}

export type ChannelView = ReturnType<typeof channelViews>[number];

function timeOrNull(ms: number | undefined): string | null {
  return ms === undefined ? null : isoTime(ms);
}

export function findingsView({ channel, account, findings }: AccountFindings) {
  return { name: channel, account, findings: findings.map(findingView) };
}

export type FindingsView = ReturnType<typeof findingsView>;

export function findingView({ name, state, message, hint }: Finding) {
  return { name, state, message, hint: hint ?? null };
}

export type FindingView = ReturnType<typeof findingView>;

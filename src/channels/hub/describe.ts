/** How accounts and findings look in a terminal. */
import { accountName } from "../../model/account-name.ts";
import { reveal } from "../../model/reveal.ts";
import { moment, table } from "../../terminal/text.ts";
import type { Finding } from "../channel.ts";
import type { ChannelView, FindingView } from "./views.ts";

export function describeFindings(findings: readonly (Finding | FindingView)[]): string {
  return table(
    findings.flatMap(({ state, name, message, hint }) => [
      [state, name, reveal(message)],
      ...(hint === undefined || hint === null ? [] : [["", "", `  ${hint}`]]),
    ]),
  );
}

export function rowOf(view: ChannelView): string[] {
  return [
    accountName(view.name, view.account),
    view.state,
    `since ${moment(view.since)}`,
    reveal(view.error ?? ""),
  ];
}

export function describeAccount(view: ChannelView): string {
  const { state, since, lastProofAt, lastEventAt, error, mayLose, waiting, dead } = view;
  return table([
    ["channel", accountName(view.name, view.account)],
    ["state", `${state} since ${moment(since)}`],
    ["last proof of life", lastProofAt === null ? "none" : moment(lastProofAt)],
    ["last message", lastEventAt === null ? "none since the start" : moment(lastEventAt)],
    ...(error === null ? [] : [["error", reveal(error)]]),
    ["deliveries", `${waiting} waiting, ${dead} dead${dead > 0 ? "; `cortex dead list` lists them" : ""}`],
    ...(mayLose
      ? [["may lose", "messages that arrive while Cortex crashes: the platform forgets them at once"]]
      : []),
  ]);
}

/** How accounts and findings look in a terminal. */
import { DEFAULT_ACCOUNT } from "../../model/ids.ts";
import { reveal } from "../../model/reveal.ts";
import { moment, table } from "../../terminal/text.ts";
import type { Finding } from "../channel.ts";
import type { ChannelView, FindingView } from "./views.ts";

/** `telegram`, or `telegram@work` of another account than the default one. */
export function accountName({ name, account }: { readonly name: string; readonly account: string }): string {
  return account === DEFAULT_ACCOUNT ? name : `${name}@${account}`;
}

export function describeFindings(findings: readonly (Finding | FindingView)[]): string {
  return table(
    findings.flatMap(({ state, name, message, hint }) => [
      [state, name, reveal(message)],
      ...(hint === undefined || hint === null ? [] : [["", "", `  ${hint}`]]),
    ]),
  );
}

export function rowOf(view: ChannelView): string[] {
  return [accountName(view), view.state, `since ${moment(view.since)}`, reveal(view.error ?? "")];
}

export function describeAccount(view: ChannelView): string {
  const { state, since, lastProofAt, lastEventAt, error, mayLose, waiting, dead } = view;
  return table([
    ["channel", accountName(view)],
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

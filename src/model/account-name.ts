import { DEFAULT_ACCOUNT } from "./ids.ts";

/** An account of a channel as people name it: `telegram`, or `telegram@work` if it is not the default one. */
export function accountName(channel: string, account: string | undefined): string {
  return account === undefined || account === DEFAULT_ACCOUNT ? channel : `${channel}@${account}`;
}

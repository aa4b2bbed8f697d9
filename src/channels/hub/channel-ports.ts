import type { ChatAccount } from "../../config/channel-accounts.ts";
import { readAttachment } from "../../intake/attachments.ts";
import { CortexError } from "../../model/errors.ts";
import { DEFAULT_ACCOUNT } from "../../model/ids.ts";
import type { ChannelPorts } from "../channel.ts";

interface AccountSurroundings extends Pick<ChannelPorts, "clock" | "log"> {
  readonly home: string;
  /** A variable of the environment or of `config/.env`. */
  readonly variable: (name: string) => string | undefined;
  readonly publicUrl: string | undefined;
}

/** What a connection of this account gets of Cortex, whether a server or a command opens it. */
export function channelPortsOf(
  { channel, account }: Pick<ChatAccount, "channel" | "account">,
  { home, variable, publicUrl, clock, log }: AccountSurroundings,
): ChannelPorts {
  return {
    account,
    readFile: (sha256) => readAttachment(sha256, home),
    secret: (name) => {
      const value = variable(name);
      if (value === undefined || value === "") throw secretMissing(name);
      return value;
    },
    fetch,
    clock,
    log,
    ...(publicUrl === undefined ? {} : { webhookUrl: publicUrl + inPath({ channel, account }) }),
  };
}

/** Where the server takes what a platform sends for an account. */
function inPath({ channel, account }: Pick<ChatAccount, "channel" | "account">): string {
  return account === DEFAULT_ACCOUNT ? `/in/${channel}` : `/in/${channel}/${encodeURIComponent(account)}`;
}

function secretMissing(name: string): CortexError {
  return new CortexError("credentials_missing", `${name} is not set`, {
    hint: `Set ${name} in config/.env or in the environment of Cortex.`,
  });
}

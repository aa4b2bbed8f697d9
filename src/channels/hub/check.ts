import { chatAccounts } from "../../config/channel-accounts.ts";
import { readConfigured } from "../../config/configured.ts";
import { type Check, warn } from "../../feature/check.ts";
import type { CheckedHome } from "../../feature/feature.ts";
import { DEFAULT_ACCOUNT } from "../../model/ids.ts";

/** What the settings of chat channels ask for that this version does not do. */
export async function checkChannels(home: CheckedHome): Promise<Check[]> {
  const { config } = await readConfigured(home);
  const smart = chatAccounts(config).filter(({ settings: { routing } }) => routing === "smart");
  return smart.map(({ channel, account }) => {
    const at = account === DEFAULT_ACCOUNT ? channel : `${channel}.accounts.${account}`;
    return warn(
      "channels",
      `channels.${at}.routing: "smart" has no effect yet; messages go to the session of their place`,
      'Use "default".',
    );
  });
}

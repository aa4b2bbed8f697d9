import { readConfigured } from "../config/configured.ts";
import { type Check, warn } from "../feature/check.ts";
import type { CheckedHome } from "../feature/feature.ts";

/** `channels.paired` looks as if it decided who may talk. */
export async function checkPaired(home: CheckedHome): Promise<readonly Check[]> {
  const { config } = await readConfigured(home);
  const { length } = config.channels.paired;
  if (length === 0) return [];
  const entries = length === 1 ? "1 entry" : `${length} entries`;
  return [
    warn(
      "people",
      `channels.paired has ${entries}, which are only read once: people are in the ledger`,
      "See `cortex people list`; change people with `cortex people add`, `limit` and `remove`, then delete channels.paired.",
    ),
  ];
}

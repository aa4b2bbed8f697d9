/** Writes what was decided about an account: secrets into `config/.env`, then settings into `cortex.json`. */
import { changeEntries, checkEntries } from "../../config/change-entries.ts";
import { changeVariables } from "../../config/env-file.ts";
import type { ConfigInput } from "../../config/read.ts";
import type { AccountChange } from "./asked-values.ts";

/**
 * Nothing is written that would be invalid. A crash in between leaves a variable that nothing names, and the next
 * attempt offers to keep it.
 */
export async function saveAccount(
  sources: ConfigInput,
  { variables, entries }: Pick<AccountChange, "variables" | "entries">,
): Promise<void> {
  await withoutInterruption(async () => {
    await checkEntries(sources, entries);
    await changeVariables(sources.home, variables);
    if (entries.length > 0) await changeEntries(sources, entries);
  });
}

/** Ctrl-C has to wait a moment. */
async function withoutInterruption(work: () => Promise<void>): Promise<void> {
  let wanted: NodeJS.Signals | undefined;
  const note = (signal: NodeJS.Signals): void => void (wanted = signal);
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  for (const signal of signals) process.on(signal, note);
  try {
    await work();
  } finally {
    for (const signal of signals) process.off(signal, note);
    if (wanted !== undefined) process.kill(process.pid, wanted);
  }
}

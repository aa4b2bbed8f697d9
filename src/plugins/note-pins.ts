import { readPins } from "../personas/plugin-pins.ts";
import { errorText } from "../model/errors.ts";
import type { Ports } from "../feature/ports.ts";

/**
 * Notes in the audit log which content of plugins is accepted now. The lock file is the authority: `cortex plugins pin`
 * writes it also where no server runs.
 */
export async function notePins({ home, store, log }: Pick<Ports, "home" | "store" | "log">): Promise<void> {
  try {
    for (const [object, { sha256, by }] of await readPins(home)) {
      const principal = by === "owner" ? "owner" : "cortex";
      await store.audit.noteOutside({ kind: "plugin.pin", object, fingerprint: sha256 }, { principal });
    }
  } catch (error) {
    log(`The pins of plugins could not be recorded: ${errorText(error)}`);
  }
}

import { endStrays, StrayRecords } from "../../agents/process/strays.ts";
import type { Ports } from "../../feature/ports.ts";
import { childEnvironment } from "../../programs/environment.ts";
import { runGroup } from "../../programs/run-group.ts";
import type { RunProgram } from "./script.ts";

const TIMES = {
  /** Between the request to end and the kill. */
  graceMs: 2_000,
  /** How long processes that a script left behind have to finish their output. */
  drainMs: 250,
};

/** The processes of scripts. Those that a crash left running are in a file, and ended by the next start. */
export class ScriptProcesses {
  readonly #ports: Pick<Ports, "environment" | "settings" | "log">;
  readonly #file: string;
  readonly #strays: StrayRecords;

  constructor(ports: Pick<Ports, "environment" | "settings" | "log">, file: string) {
    this.#ports = ports;
    this.#file = file;
    this.#strays = new StrayRecords(file, ports.log);
  }

  async endStrays(): Promise<void> {
    await endStrays(this.#file, this.#ports.log);
  }

  /** Scripts are the owner's own, and get the variables that they name, beside those of Cortex. */
  runner(cortexVariables: Readonly<Record<string, string>> = {}): RunProgram {
    const { environment, settings } = this.#ports;
    return async ({ env, ...program }) => {
      const named = childEnvironment(environment, { names: env, variable: settings.variable });
      let group: number | undefined;
      const onBegun = (begun: number): void => {
        group = begun;
        void this.#strays.add(begun); // it never rejects, and is done before it is removed
      };
      try {
        return await runGroup({
          ...program,
          ...TIMES,
          environment: { ...named, ...cortexVariables },
          onBegun,
        });
      } finally {
        if (group !== undefined) await this.#strays.remove(group);
      }
    };
  }
}

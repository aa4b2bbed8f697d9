import { endStrays, StrayRecords } from "../../agents/process/strays.ts";
import type { Ports } from "../../feature/ports.ts";
import { childEnvironment } from "../../programs/environment.ts";
import { runGroup } from "../../programs/run-group.ts";
import type { RunProgram } from "./script.ts";

const TIMES = {
  /** Between the request to end and the kill. */
  graceMs: 2_000,
  /** How long processes left behind by a script may still write output. */
  drainMs: 250,
};

/** The processes of scripts. They are noted in a file, so the next start can end those that survived a crash. */
export class ScriptProcesses {
  readonly #ports: Pick<Ports, "environment" | "settings" | "log" | "watchProgram">;
  readonly #file: string;
  readonly #strays: StrayRecords;

  constructor(ports: Pick<Ports, "environment" | "settings" | "log" | "watchProgram">, file: string) {
    this.#ports = ports;
    this.#file = file;
    this.#strays = new StrayRecords(file, ports.log);
  }

  async endStrays(): Promise<void> {
    await endStrays(this.#file, this.#ports.log);
  }

  /** Scripts belong to the owner: they get the variables that they name, and those of Cortex. */
  runner(cortexVariables: Readonly<Record<string, string>> = {}): RunProgram {
    const { environment, settings, watchProgram } = this.#ports;
    return async ({ env, ...program }) => {
      const named = childEnvironment(environment, { names: env, variable: settings.variable });
      let group: number | undefined;
      const onBegun = (begun: number): void => {
        group = begun;
        void this.#strays.add(begun); // never rejects, and completes before the removal
      };
      try {
        return await runGroup({
          ...program,
          ...TIMES,
          environment: { ...named, ...cortexVariables },
          watch: watchProgram(),
          onBegun,
        });
      } finally {
        if (group !== undefined) await this.#strays.remove(group);
      }
    };
  }
}

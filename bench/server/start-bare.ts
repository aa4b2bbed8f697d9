import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";

export interface RunningBare extends AsyncDisposable {
  readonly url: string;
  readonly pid: number;
}

/** Starts the least server there can be, see bare.ts. */
export async function startBare(folder: string, modelPort: number): Promise<RunningBare> {
  const args = [join(import.meta.dirname, "bare.ts"), join(folder, "bare.log"), String(modelPort)];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(child, "exit");
  const [line] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
  return {
    pid: child.pid!,
    url: (JSON.parse(line) as { url: string }).url,
    async [Symbol.asyncDispose]() {
      child.kill("SIGTERM");
      await ended;
    },
  };
}

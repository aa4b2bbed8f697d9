import { turnsUnderWay } from "./check.ts";
import type { Death } from "./death.ts";
import type { Door } from "./door.ts";
import { type Ended, type Served, startServed, type Up } from "./served.ts";

/** A server is up or dead after this long, or hangs. */
const START_MS = 60_000;

/** One server, from its start to its end. */
export interface Life {
  readonly served: Served;
  /** Waits for its end. What it should not have done or said is a problem. */
  end(): Promise<{ readonly killed: boolean; readonly resumed: number; readonly problems: string[] }>;
}

/** Starts a server, and lets the senders know when it is up and when it is gone. */
export function startLife(
  { source, home, door }: { readonly source: string; readonly home: string; readonly door: Door },
  death: Death | undefined,
): Life {
  const left = turnsUnderWay(home);
  const served = startServed(source, home, death?.kind === "point" ? death : undefined);
  const problems: string[] = [];
  const hung = setTimeout(() => {
    problems.push(`the server was not up after ${START_MS / 1_000} s`);
    served.signal("SIGKILL");
  }, START_MS);
  const arrive = async (): Promise<Up | undefined> => {
    const up = await served.up;
    clearTimeout(hung);
    if (up === undefined) return undefined;
    door.move(up);
    if (up.resumed !== left)
      problems.push(`it says that it resumed ${up.resumed} turns, and ${left} were left`);
    return up;
  };
  const arrived = arrive();
  return {
    served,
    async end() {
      const [ended, up] = await Promise.all([served.ended, arrived]);
      door.move(undefined);
      return {
        killed: ended.signal === "SIGKILL",
        resumed: up?.resumed ?? 0,
        problems: [...problems, ...stumblesOf(ended)],
      };
    },
  };
}

/** What a server that is killed has no reason to do or to say. */
function stumblesOf({ code, signal, complaints }: Ended): string[] {
  const notes = /^(Cortex is stopping\..*|)$/;
  const unexpected = complaints.split("\n").filter((line) => !notes.test(line));
  return [
    ...(signal === null && code !== 0 ? [`the server failed with ${code}`] : []),
    ...unexpected.map((line) => `the server said: ${line}`),
  ];
}

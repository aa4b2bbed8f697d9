import { type Check, type Diagnosis, examine } from "../runtime/doctor.ts";
import { ask } from "./ask.ts";
import type { Invocation } from "./command.ts";
import { findServer } from "./server.ts";
import { count, harmless, table } from "./text.ts";
import { readVersion } from "./version.ts";

/** Looks at everything that Cortex needs. False: something does not work. */
export async function doctor({ home, environment, print }: Invocation): Promise<void | false> {
  const server = await askServer(home);
  const diagnosis = await examine({ home, environment, nowMs: Date.now(), version: readVersion(), server });
  print.data(diagnosis, () => describe(diagnosis, print.style));
  if (diagnosis.state === "fail") return false;
}

/** One that does not answer counts as none. */
async function askServer(home: string): Promise<{ url: string; version: string } | undefined> {
  const server = await findServer(home);
  if (server === undefined) return undefined;
  try {
    const { body } = await ask(server, { path: "/api/health" });
    const host = server.host.includes(":") ? `[${server.host}]` : server.host;
    return { url: `http://${host}:${server.port}`, version: (body as { version: string }).version };
  } catch {
    return undefined;
  }
}

const COLOURS = { ok: "green", warn: "yellow", fail: "red" } as const;

function describe({ checks }: Diagnosis, style: Invocation["print"]["style"]): string {
  const rows = checks.flatMap(({ state, name, message, hint }) => [
    ...lines(message).map((line, at) => (at === 0 ? [state, name, line] : ["", "", line])),
    ...(hint === null ? [] : lines(hint).map((line) => ["", "", `  ${line}`])),
  ]);
  const list = table(rows).replaceAll(/^(ok|warn|fail)\b/gm, (word) =>
    style(COLOURS[word as Check["state"]], word),
  );
  return `${list}\n\n${summary(checks)}`;
}

function summary(checks: readonly Check[]): string {
  const [fails, warns] = (["fail", "warn"] as const).map(
    (state) => checks.filter((check) => check.state === state).length,
  );
  if (fails === 0 && warns === 0) return "All is well.";
  return `${count(fails!, "failure")}, ${count(warns!, "warning")}.`;
}

function lines(text: string): string[] {
  return harmless(text).split("\n");
}

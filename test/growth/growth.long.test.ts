/** Memory: what thousands of turns leave behind in a server. */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";

/** By then, everything that is kept up to a limit has reached it. */
const WARM_UP = 2_000;
const TURNS = 1_600;
/** Measured: 0 to 400, by what a collection leaves that time. */
const MAX_BYTES_A_TURN = 1_000;

/** A minute on a quiet machine. */
const LONG = { timeout: 600_000 };

test("thousands of turns with streams, aborts and large results leave no memory behind", LONG, async () => {
  const child = fileURLToPath(new URL("child.ts", import.meta.url));
  const args = ["--expose-gc", child, String(WARM_UP), String(TURNS)];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  const { early, late, committed, done } = JSON.parse(stdout) as Record<string, number>;
  expect(done).toBe(WARM_UP + TURNS);
  expect(committed).toBeGreaterThanOrEqual(done!); // some are compactions
  expect((late! - early!) / TURNS).toBeLessThan(MAX_BYTES_A_TURN);
});

import { expect, test } from "vitest";

import { Probe } from "./probe.ts";

const PATIENT_MS = 60_000;

function start(source: string): Promise<Probe> {
  const command = [process.execPath, "--input-type=module", "--eval", source];
  return Probe.start({ command, environment: { PATH: process.env["PATH"]! } });
}

test("what is a JSON object is a message, and everything else is kept as it is, to the last half line", async () => {
  await using probe = await start(
    `process.stdout.write('{"type":"ready"}\\n[1]\\n\\n{"no":"type"}\\n{"type":"chu'); console.error("oh"); process.exitCode = 3;`,
  );
  expect(await probe.hear(["nothing"], PATIENT_MS)).toBe("ended");
  expect(probe.lines).toEqual([
    { kind: "message", type: "ready", message: { type: "ready" } },
    { kind: "garbage", shown: '"[1]"' },
    { kind: "garbage", shown: '""' },
    { kind: "message", type: undefined, message: { no: "type" } },
    { kind: "garbage", shown: '"{\\"type\\":\\"chu" without a line feed' },
  ]);
  expect(probe.end).toBe("it exited with code 3; standard error: oh");
});

test.each([
  [
    "a line without end",
    `const go = () => process.stdout.write("x".repeat(1 << 20), go); go();`,
    /in a line of more than/,
  ],
  [
    "lines without end",
    `const go = () => process.stdout.write("{}\\n".repeat(1 << 16), go); go();`,
    /after more than \d+ lines/,
  ],
])("%s is not listened to for ever", { timeout: PATIENT_MS }, async (_, source, shown) => {
  await using probe = await start(source);
  expect(await probe.hear(["nothing"], PATIENT_MS)).toBe("cut");
  expect(probe.lines.at(-1)).toEqual({ kind: "garbage", shown: expect.stringMatching(shown) });
});

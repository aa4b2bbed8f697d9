/**
 * Checks whether a program speaks the sub-agent protocol. Each check starts the program, plays the role of Cortex and
 * examines the answers; the last two examine everything that was observed.
 *
 * Each instruction is given twice: in words, for programs with their own model, and as a line that the offline model
 * obeys. So the checks need no network. A program need not call tools: checks that need a call are skipped for one that
 * does not.
 */
import type { Examination, CheckLimits, CheckFinding } from "./examine.ts";
import {
  LARGE_BYTES,
  lookCancel,
  lookChunks,
  lookDone,
  lookInput,
  lookLarge,
  lookMessage,
  lookOutput,
  lookPieces,
  lookPing,
  lookProcesses,
  lookReady,
  lookSigterm,
  lookTools,
  lookUnknown,
} from "./looks.ts";
import type { ProbeOptions } from "./probe.ts";

interface CheckOptions extends ProbeOptions {
  readonly limits?: Partial<CheckLimits>;
  /** Called with each result as soon as it is known. */
  readonly onResult?: (result: CheckResult) => void;
}

export const CHECK_LIMITS: CheckLimits = { readyMs: 10_000, answerMs: 60_000, endMs: 5_000 };

export interface CheckResult {
  readonly name: string;
  readonly expected: string;
  readonly state: "ok" | "failed" | "skipped";
  /** The actual behaviour; for a skipped check, the reason. */
  readonly got: string | null;
}

/** Never rejects: a program that cannot be started fails the first check. */
export async function checkProtocol(options: CheckOptions): Promise<CheckResult[]> {
  const limits = { ...CHECK_LIMITS, ...options.limits };
  const seen: Examination["seen"] = { version: undefined, lines: [], leftovers: [] };
  const examination: Examination = { ...options, limits, seen };
  const results: CheckResult[] = [];
  const isStarted = (): boolean => results[0]?.state !== "failed";
  for (const { name, expected, version = 1, look } of checksFor(limits)) {
    const finding = !isStarted()
      ? { skipped: "it never became ready" }
      : (seen.version ?? 1) < version
        ? { skipped: `requires version ${version} of the protocol` }
        : await look(examination);
    const result = { name, expected, ...outcomeOf(finding) };
    results.push(result);
    options.onResult?.(result);
  }
  return results;
}

interface Check {
  readonly name: string;
  readonly expected: string;
  /** From this version of the protocol on. */
  readonly version?: number;
  readonly look: (examination: Examination) => Promise<CheckFinding>;
}

function checksFor({ readyMs, endMs }: CheckLimits): readonly Check[] {
  const soonExits = `exits within ${endMs / 1_000} s`;
  return [
    {
      name: "ready",
      expected: `sends ready first, within ${readyMs / 1_000} s of init`,
      look: lookReady,
    },
    { name: "done", expected: "answers a task with done and a valid result", look: lookDone },
    { name: "chunks", expected: "sends all chunks before done, each with a string", look: lookChunks },
    { name: "pieces", expected: "reads an init that arrives in small pieces", look: lookPieces },
    { name: "large", expected: `reads an init of ${LARGE_BYTES / 1_000_000} MB`, look: lookLarge },
    { name: "unknown", expected: "ignores unknown fields and unknown messages", look: lookUnknown },
    {
      name: "ping",
      expected: "answers ping with pong while waiting for a tool",
      version: 2,
      look: lookPing,
    },
    {
      name: "tools",
      expected: "calls a tool, waits for its result and uses it",
      version: 2,
      look: lookTools,
    },
    { name: "message", expected: "continues after a message during a task", version: 2, look: lookMessage },
    {
      name: "cancel",
      expected: `sends done or exits within ${endMs / 1_000} s of cancel`,
      version: 2,
      look: lookCancel,
    },
    { name: "stdin", expected: `${soonExits} of the end of its input, idle and busy`, look: lookInput },
    { name: "sigterm", expected: `${soonExits} of SIGTERM`, look: lookSigterm },
    { name: "stdout", expected: "writes only JSON objects to its output, one per line", look: lookOutput },
    { name: "processes", expected: "leaves no processes behind", look: lookProcesses },
  ];
}

function outcomeOf(finding: CheckFinding): Pick<CheckResult, "state" | "got"> {
  if (finding === undefined) return { state: "ok", got: null };
  return "failed" in finding
    ? { state: "failed", got: finding.failed }
    : { state: "skipped", got: finding.skipped };
}

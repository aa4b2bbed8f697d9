/**
 * Finds out whether a program speaks the protocol of sub-agents. Each check starts it anew, plays the part of Cortex
 * and looks at what comes back; two more look at all that was seen meanwhile.
 *
 * What to do is said twice in each instruction: in words, for programs with a model of their own, and as a line that
 * the offline model obeys. So the checks need no network, and a program that calls no tool is not wrong: what
 * can be seen only of one that does is skipped.
 */
import type { Examination, CheckLimits, Finding } from "./examine.ts";
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

export interface CheckOptions extends ProbeOptions {
  readonly limits?: Partial<CheckLimits>;
  /** Told of each as soon as it is known. */
  readonly onResult?: (result: CheckResult) => void;
}

export const CHECK_LIMITS: CheckLimits = { readyMs: 10_000, answerMs: 60_000, endMs: 5_000 };

export interface CheckResult {
  readonly name: string;
  readonly expected: string;
  readonly state: "ok" | "failed" | "skipped";
  /** What came instead; of one that was skipped, why. */
  readonly got: string | null;
}

/** Never rejects: a program that cannot be started has failed the first check. */
export async function checkSubAgent(options: CheckOptions): Promise<CheckResult[]> {
  const limits = { ...CHECK_LIMITS, ...options.limits };
  const seen: Examination["seen"] = { version: undefined, said: [], stayed: [] };
  const examination: Examination = { ...options, limits, seen };
  const results: CheckResult[] = [];
  const isStarted = (): boolean => results[0]?.state !== "failed";
  for (const { name, expected, version = 1, look } of checksFor(limits)) {
    const finding = !isStarted()
      ? { skipped: "it never was ready" }
      : (seen.version ?? 1) < version
        ? { skipped: `only version ${version} of the protocol has this` }
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
  readonly look: (examination: Examination) => Promise<Finding>;
}

function checksFor({ readyMs, endMs }: CheckLimits): readonly Check[] {
  const soonEnds = `ends within ${endMs / 1_000} s`;
  return [
    {
      name: "ready",
      expected: `says ready within ${readyMs / 1_000} s of its init, and nothing before`,
      look: lookReady,
    },
    { name: "done", expected: "answers a task with done, with a result of the right types", look: lookDone },
    { name: "chunks", expected: "sends all chunks before done, each with a text", look: lookChunks },
    { name: "pieces", expected: "reads an init that comes in small pieces", look: lookPieces },
    { name: "large", expected: `reads an init of ${LARGE_BYTES / 1_000_000} MB`, look: lookLarge },
    { name: "unknown", expected: "ignores unknown fields and unknown messages", look: lookUnknown },
    {
      name: "ping",
      expected: "answers ping with pong while it waits for a tool",
      version: 2,
      look: lookPing,
    },
    {
      name: "tools",
      expected: "asks for a tool, waits for its result and uses it",
      version: 2,
      look: lookTools,
    },
    { name: "message", expected: "goes on when a message comes mid-task", version: 2, look: lookMessage },
    {
      name: "cancel",
      expected: `is done within ${endMs / 1_000} s of cancel, or ends`,
      version: 2,
      look: lookCancel,
    },
    { name: "stdin", expected: `${soonEnds} of the end of its input, idle and at work`, look: lookInput },
    { name: "sigterm", expected: `${soonEnds} of SIGTERM`, look: lookSigterm },
    { name: "stdout", expected: "one JSON object a line on its output, and nothing else", look: lookOutput },
    { name: "processes", expected: "leaves no process behind", look: lookProcesses },
  ];
}

function outcomeOf(finding: Finding): Pick<CheckResult, "state" | "got"> {
  if (finding === undefined) return { state: "ok", got: null };
  return "failed" in finding
    ? { state: "failed", got: finding.failed }
    : { state: "skipped", got: finding.skipped };
}

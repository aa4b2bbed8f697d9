/**
 * Messages that take workers. A manager has two at once, and waits for both, or has one that tells of its result later, or
 * a sub-agent. One of two has a sub-agent in a process of its own, and writes to its manager while that one works.
 */
import type { Random } from "../../simulation/random.ts";
import { type Call, makeCall, writeTask } from "./task.ts";

/** The agent that is given work. */
export const WORKER = "coder";

/** A message to a manager. */
export function makeManagerTask(name: string, log: string, random: Random): string {
  const work = (place: string): string => makeWork(`${name}_${place}`, log, random);
  const calls = random.pick([
    () => [dispatch(work("a"), { wait: true }), dispatch(managing(`${name}_b`, log, random), { wait: true })],
    () => [dispatch(random.chance(0.5) ? work("c") : managing(`${name}_c`, log, random), {})],
    () => [subAgent(work("s"))],
  ]);
  return writeTask(name, [calls()]);
}

/** Work of one that has a sub-agent. */
function managing(name: string, log: string, random: Random): string {
  const calls = [
    subAgent(makeWork(`${name}_s`, log, random)),
    { name: "send_message_to_agent", args: { content: `MESSAGE ${name}_m`, to: "manager" } },
  ] as const;
  return writeTask(name, [random.chance(0.5) ? calls : calls.toReversed()]);
}

function makeWork(name: string, log: string, random: Random): string {
  if (random.chance(0.05)) return `MESSAGE ${name}\nREFUSE`;
  return writeTask(
    name,
    Array.from({ length: random.below(3) }, (_, step) => [makeCall(`${name}.${step}`, log, random)]),
  );
}

function dispatch(task: string, { wait }: { readonly wait?: true }): Call {
  return { name: "dispatch_to_agent", args: { agent: WORKER, task, ...(wait && { wait }) } };
}

function subAgent(task: string): Call {
  return { name: "sub_agent", args: { task, type: "general" } };
}

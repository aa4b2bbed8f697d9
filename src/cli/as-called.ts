import type { Invocation } from "../feature/command.ts";

/** What is typed to call Cortex. npm tells what it runs: after `npx cortex` or `npm start`, no `cortex` is in the PATH. */
export function calledAs(environment: Invocation["environment"]): string {
  return ["exec", "start"].includes(environment["npm_command"] ?? "") ? "npx cortex" : "cortex";
}

/** Advice in words that work where it is read: commands stand in backticks, or indented on a line of their own. */
export function asCalled(advice: string, program: string): string {
  return advice.replaceAll(/(?<=`|^ {2})cortex(?= )/gm, program);
}

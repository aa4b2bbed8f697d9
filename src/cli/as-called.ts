import type { Invocation } from "../feature/command.ts";

/** How the user runs Cortex: after `npx cortex` or `npm start`, no `cortex` is in the PATH. */
export function calledAs(environment: Invocation["environment"]): string {
  return ["exec", "start"].includes(environment["npm_command"] ?? "") ? "npx cortex" : "cortex";
}

/** Rewrites commands in advice to work as typed: those in backticks, and those on an indented line. */
export function asCalled(advice: string, program: string): string {
  return advice.replaceAll(/(?<=`|^ {2})cortex(?= )/gm, program);
}

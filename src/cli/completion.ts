/**
 * Completion for shells, made from the table of commands. A script knows by itself what can come next: nothing of
 * ours is started when somebody presses Tab.
 */
import { CortexError } from "../model/errors.ts";
import type { Command, Invocation } from "../feature/command.ts";
import { bashCompletion } from "./completion-bash.ts";
import { fishCompletion } from "./completion-fish.ts";
import { placesOf } from "./completion-places.ts";
import { zshCompletion } from "./completion-zsh.ts";

const SHELLS = { bash: bashCompletion, fish: fishCompletion, zsh: zshCompletion } as const;

export async function completion({ args, print }: Invocation, commands: readonly Command[]): Promise<void> {
  const [shell = ""] = args;
  const script = writeCompletion(shell, commands);
  print.data({ shell, script }, () => script.trimEnd());
}

export function writeCompletion(shell: string, commands: readonly Command[]): string {
  if (!Object.hasOwn(SHELLS, shell)) {
    throw new CortexError("usage", `There is no completion for "${shell}"`, {
      hint: `There is for ${Object.keys(SHELLS).join(", ")}.`,
    });
  }
  return SHELLS[shell as keyof typeof SHELLS](placesOf(commands));
}

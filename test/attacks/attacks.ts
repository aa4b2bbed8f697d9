/** All attacks, in families that share a Cortex. */
import type { Attack } from "./attack.ts";
import {
  linkAttacks,
  plainAttacks,
  requiringAttacks,
  sandboxedAttacks,
  unsandboxedAttacks,
} from "./corpus/commands.ts";
import { forgeryAttacks } from "./corpus/forgeries.ts";
import { loadAttacks } from "./corpus/loads.ts";
import { nameAttacks } from "./corpus/names.ts";
import { exfiltrationAttacks, serverSideAttacks } from "./corpus/network.ts";
import { pathAttacks } from "./corpus/paths.ts";
import { repositoryAttacks, repositoryCommands } from "./corpus/repositories.ts";
import { workerAttacks } from "./corpus/workers.ts";

export interface Family {
  readonly attacks: readonly Attack[];
  /** Whether there is a sandbox, and what is said of it. */
  readonly sandbox: "there" | "missing" | "required" | "off";
}

export const CALLS: Readonly<Record<string, Family>> = {
  "paths that lead out of the workspace": { attacks: pathAttacks, sandbox: "missing" },
  "files of git directories": { attacks: repositoryAttacks, sandbox: "missing" },
  "private data for the attacker": { attacks: exfiltrationAttacks, sandbox: "missing" },
  "requests into the owner's network": { attacks: serverSideAttacks, sandbox: "missing" },
  "tools that the agent does not have": { attacks: nameAttacks, sandbox: "missing" },
  "forged decisions": { attacks: forgeryAttacks, sandbox: "missing" },
  "orders for workers": { attacks: workerAttacks, sandbox: "missing" },
};

/** Apart, because they take as long as all the others. */
export const LABOURS: Readonly<Record<string, Family>> = {
  "calls that are too much": { attacks: loadAttacks, sandbox: "missing" },
  "programs in the sandbox": {
    attacks: [...sandboxedAttacks, ...linkAttacks, ...repositoryCommands],
    sandbox: "there",
  },
  "programs without a sandbox": { attacks: unsandboxedAttacks, sandbox: "missing" },
  "programs where a sandbox is required": { attacks: requiringAttacks, sandbox: "required" },
  "programs where it is switched off": { attacks: plainAttacks, sandbox: "off" },
};

import type { AgentId, RunId, TurnId } from "./ids.ts";
import type { Json } from "./json.ts";
import type { Permissions } from "./permissions.ts";
import type { SessionKey } from "./session-key.ts";
import type { ToolTrust } from "./trust.ts";

/** Something that an agent can do. Each folder exports the tools for the thing that it knows. */
export interface Tool {
  readonly name: string;
  /** For the model: what it does and when to use it. */
  readonly description: string;
  /** JSON Schema of the parameters, an object. */
  readonly parameters: Json;
  /** A part of the system prompt, for agents that have this tool: the same text for the same configuration. */
  readonly guidance?: { readonly name: string; readonly text: () => string };
  /** Whether a call may change something. */
  readonly writes: boolean;
  /** Whether a call that may already have taken effect can simply be made again. */
  readonly repeatable: boolean;
  /** How long a call may take before it is stopped. */
  readonly timeoutMs: number;
  /**
   * What a call brings into the session, or out of it, by its result and by its errors. `{}` is nothing that matters.
   * A tool that leaves it out, written without types, counts as one that does everything.
   */
  readonly trust: ToolTrust;
  /** What errors bring beside that: those that tell which files or names there are, where a result does not. */
  readonly errorTrust?: ToolTrust;
  /** Runs a program of the model's choice: in a sandbox, or with a person's yes. */
  readonly runsCode?: true;
  /** Only for sessions that were given it by name: see `Worker.tools`. */
  readonly isReserved?: true;
  /** Why every call needs a person's yes, whatever the permissions say. Absent: it does not. */
  readonly asks?: string;
  /** The same, only in a session that holds words of anybody but the owner. */
  readonly asksForOthers?: string;
  /**
   * Makes a call. The parameters are as the model gave them: the tool checks them. A CortexError is the
   * answer that the model gets; it can try again with other parameters.
   */
  run(params: Json, context: ToolContext): Promise<ToolOutcome>;
}

export interface ToolContext {
  readonly session: SessionKey;
  readonly agent: AgentId;
  readonly turn: TurnId;
  readonly run: RunId;
  /** With the session, the right to write for it: for tools that write to the ledger. */
  readonly epoch: number;
  readonly callId: string;
  /** The same for every attempt at this call: for tools that can say whether they did it already. */
  readonly callKey: string;
  /** The agent's own folder: relative paths start here. Exists. */
  readonly workspace: string;
  /** Further folders that the agent may use. */
  readonly roots: readonly string[];
  /** What it may read, and not write: the folders of its skills, and the files that came with messages of its thread. */
  readonly readable: readonly string[];
  /** Folders that stay closed, also inside one that the agent may use: what is inside of both is what counts. */
  readonly hidden: readonly string[];
  /** What this turn may do. That the tool itself is allowed was judged before. */
  readonly permissions: Permissions;
  /** What the workers of this turn may do at most. */
  readonly delegable: Permissions;
  /** Where what is too long for the model is kept. Exists. */
  readonly outputFolder: string;
  /** The environment for child processes; nothing else of ours is inherited. */
  readonly environment: Readonly<Record<string, string>>;
  /** How programs are kept from the rest of the machine. Absent: they are not. */
  readonly sandbox?: Sandbox | undefined;
  /** Aborts when the turn is aborted or the time is over. The tool stops all that it started. */
  readonly signal: AbortSignal;
}

export interface Sandbox {
  /** The program `bwrap`, an absolute path. */
  readonly bubblewrap: string;
  /** Folders that programs do not see, even inside one that they may use: the home. Workspaces in them excepted. */
  readonly hidden?: readonly string[];
  /** Git directories of which programs may change nothing: those that Cortex itself uses. */
  readonly readOnly?: () => Promise<readonly string[]>;
}

export type ToolOutcome =
  | { readonly kind: "done"; readonly result: ToolResult }
  /** The answer comes from elsewhere, later: the turn is suspended and resumed with it. */
  | {
      readonly kind: "suspend";
      readonly waitKind: "approval" | "question" | "child" | "other";
      readonly detail: Json;
    };

/** What the model is told of a call. */
export interface ToolResult {
  readonly text: string;
  readonly isError?: boolean;
  /** For people and programs: not shown to the model. */
  readonly details?: Json;
  /** The session of the worker that the call has given work to. */
  readonly childSession?: SessionKey;
}

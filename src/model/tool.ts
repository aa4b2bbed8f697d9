import type { Bounds } from "./bounds.ts";
import type { AgentId, RunId, TurnId } from "./ids.ts";
import type { Json } from "./json.ts";
import type { Permissions } from "./permissions.ts";
import type { FileDigest } from "./request.ts";
import type { SessionKey } from "./session-key.ts";
import type { Label, ToolTrust } from "./trust.ts";

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
  /** Whether a call that may already have taken effect can be repeated. */
  readonly repeatable: boolean;
  /** How long a call may take before it is stopped. */
  readonly timeoutMs: number;
  /**
   * What a call brings into the session at most, through its result and its errors. `{}`: nothing. A tool that omits it
   * (written without types) counts as bringing everything. A result with a label says it exactly.
   */
  readonly trust: ToolTrust;
  /**
   * Of a tool with effects outside, what a call tells the outside, if its parameters are all that it tells. Absent: a call
   * may tell anything.
   */
  says?(params: Json): Said | undefined;
  /**
   * Of a tool with effects outside: the label of what a call sends beside its parameters. Undefined: it sends nothing
   * else.
   */
  sends?(params: Json, context: ToolContext): Promise<Label | undefined>;
  /** Its results have labels: nothing is added to the session before a call. */
  readonly labels?: true;
  /** Further marks of errors, which may reveal file names or other names that a result does not. */
  readonly errorTrust?: ToolTrust;
  /** Runs a program of the model's choice: needs a sandbox or an approval. "unconfined": never runs in the sandbox. */
  readonly runsCode?: true | "unconfined";
  /** Whether a call runs a program of the owner's, unconfined. */
  runsProgram?(params: Json): boolean;
  /** Only for sessions that have it by name: see `Worker.tools`. */
  readonly isReserved?: true;
  /** The turn's audience reads the text of the call: it needs an approval if they may not know it. */
  readonly tells?: true;
  /** Why every call needs an approval, whatever the permissions. Absent: it does not. */
  readonly asks?: string;
  /** The same, only in a session with text from anyone but the owner. Undefined: this call does not need one. */
  readonly asksForOthers?:
    | string
    | ((params: Json, context: ToolContext) => Promise<string | undefined>)
    | undefined;
  /**
   * What a person has to see of a call before they agree, and what their agreement is bound to. Undefined: no more than the
   * call itself. Changes nothing; the parameters are as given by the model, and what is wrong with them is left to `run`.
   */
  proposal?(params: Json, context: ToolContext): Promise<Proposal | undefined>;
  /**
   * Makes a call. The parameters are as given by the model: the tool validates them. The model sees a CortexError and can
   * try again with other parameters.
   */
  run(params: Json, context: ToolContext): Promise<ToolOutcome>;
}

/** What a call tells the outside: which address is asked for, what is searched for, or any text. */
export type Said =
  | { readonly kind: "address"; readonly url: string }
  | { readonly kind: "query"; readonly text: string }
  | { readonly kind: "text" };

export interface ToolContext {
  readonly session: SessionKey;
  readonly agent: AgentId;
  readonly turn: TurnId;
  readonly run: RunId;
  /** The epoch of the lease, for tools that write to the ledger. */
  readonly epoch: number;
  readonly callId: string;
  /** The same for every attempt at this call, so that a tool can detect a repetition. */
  readonly callKey: string;
  /** The agent's own folder: relative paths start here. Exists. */
  readonly workspace: string;
  /** Further folders that the agent may use. */
  readonly roots: readonly string[];
  /** Read-only paths: the folders of its skills, and attachments of its thread. */
  readonly readable: readonly string[];
  /** Folders that stay closed, even inside a folder that the agent may use. */
  readonly hidden: readonly string[];
  /** Folders of the home that neither the workspace nor a root opens. What is readable in them stays so. */
  readonly reserved: readonly string[];
  /** Folders whose files belong to people, apart from those that are known by name: see `control-file.ts`. */
  readonly peoples?: readonly string[];
  /**
   * In a session with text from others: the files of people that the call may change, as a person has agreed. Absent:
   * the session is the owner's alone, and it may change any.
   */
  readonly agreed?: readonly FileDigest[] | undefined;
  /** The permissions of this turn. The call of this tool is already allowed. */
  readonly permissions: Permissions;
  /** The upper bound for workers of this turn. */
  readonly delegable: Permissions;
  /** The folder for output that is too long for the model. Exists. */
  readonly outputFolder: string;
  /** The environment for child processes; nothing else of ours is inherited. */
  readonly environment: Readonly<Record<string, string>>;
  /** Where the answer of the turn is sent. Absent: nowhere, whoever asked reads it in the ledger. */
  readonly answersTo?: AnswerAddress | undefined;
  /** The label of what the call sends beside its parameters, as it was judged. Absent: nothing, or a person has agreed. */
  readonly sends?: Label | undefined;
  /** The audience whose data alone the turn may use. Absent: any data that its permissions allow. */
  readonly confinedTo?: string | undefined;
  /** The labels of files. Absent: they are not known, and `trust` of the tool counts. */
  readonly labels?: ToolLabels | undefined;
  /** Isolates programs from the rest of the machine. Absent: no isolation. */
  readonly sandbox?: Sandbox | undefined;
  /** What the agent may use of this machine. Absent: anything. */
  readonly bounds?: Bounds | undefined;
  /** Aborts with the turn or on timeout. The tool must stop everything it started. */
  readonly signal: AbortSignal;
}

interface AnswerAddress {
  readonly channel: string;
  readonly account?: string;
  readonly place: string;
  readonly topic?: string;
}

/** What files hold, and what is written to them. */
export interface ToolLabels {
  /** Of a file that the tool has read or is about to read. */
  ofFile(path: string): Promise<Label>;
  /** Of everything in these folders. */
  ofFolders(folders: readonly string[]): Promise<Label>;
  /** Writes a file that then has the label of the session. */
  write(path: string, content: Buffer, write: () => Promise<void>): Promise<void>;
  /**
   * Runs a program that can read what has this label, and write to these folders; if it is not confined to them, anywhere.
   */
  run<T>(
    program: { readonly folders: readonly string[]; readonly label: Label; readonly isConfined: boolean },
    run: () => Promise<T>,
  ): Promise<T>;
}

/** What a call would change or put to use. */
export interface Proposal {
  /** The files that it changes or runs, as they are now. */
  readonly files: readonly FileDigest[];
  /** The change, or the code. */
  readonly diff?: string;
}

export interface Sandbox {
  /** The program `bwrap`, an absolute path. */
  readonly bubblewrap: string;
  /** Folders that programs cannot see, apart from workspaces inside: the home. */
  readonly hidden?: readonly string[];
  /** Git directories that programs cannot change: those that Cortex itself uses. */
  readonly readOnly?: () => Promise<readonly string[]>;
}

export type ToolOutcome =
  | { readonly kind: "done"; readonly result: ToolResult }
  /** The result comes later from elsewhere: the turn is suspended and resumed with it. */
  | {
      readonly kind: "suspend";
      readonly waitKind: "approval" | "question" | "child" | "other";
      readonly detail: Json;
    };

/** The result of a call, as the model sees it. */
export interface ToolResult {
  readonly text: string;
  readonly isError?: boolean;
  /** What it brings into the session. Absent: what its tool declares. */
  readonly label?: Label;
  /** For people and programs: not shown to the model. */
  readonly details?: Json;
  /** The addresses that a service of the owner has named as results. */
  readonly leads?: readonly string[];
  /** The session of the worker that does the work of the call. */
  readonly childSession?: SessionKey;
}

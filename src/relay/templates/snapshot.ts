/**
 * What a relay runs with: its template with all agents, overrides and prompts in it, so that nothing is looked up
 * later. A relay is pinned to the snapshot that it started with; a snapshot is known by the hash of its content.
 */
import { createHash } from "node:crypto";
import type { Problem } from "../../config/problem.ts";
import { canonicalJson } from "../../model/json.ts";
import type { Endpoint } from "./endpoint.ts";

/** The agent that is the current one where the relay is started, as a name in a template. */
export const ACTIVE_AGENT = "__active__";

/** An agent of relays, with its texts in it. */
export interface RelayAgent {
  readonly name: string;
  /** Empty where there is none. */
  readonly description: string;
  /** A profile's name, or `__active__`. */
  readonly profile: string;
  readonly persistSession: boolean;
  readonly directive?: string;
  readonly systemPrompt?: string;
  /** Undefined where there are stages, which have prompts of their own. */
  readonly promptTemplate?: string;
  readonly stages?: Readonly<Record<string, RelayStage>>;
  /** Always there where stages are. */
  readonly entryStage?: string;
  /** Undefined: those of the agent that runs the step. */
  readonly tools?: readonly string[];
  /** Absolute. */
  readonly pluginDirs: readonly string[];
  readonly claudeAgent?: string;
  readonly outputStyle?: string;
}

export interface RelayStage {
  readonly description: string;
  readonly promptTemplate: string;
  readonly continuesSession: boolean;
}

export interface RelayTemplate {
  readonly name: string;
  readonly description: string;
  /** In the order of the file, each name once, with what the template overrides. */
  readonly agents: readonly RelayAgent[];
  readonly transitions: readonly RelayTransition[];
  readonly entryAgent: string;
  /** Always there where the first agent has stages. */
  readonly entryStage?: string;
  readonly maxTotalSteps: number;
  readonly maxTotalCostUsd?: number;
  readonly hooks: RelayScripts;
  /** What the template overrides of the agent that `__active__` stands for. */
  readonly activeOverrides?: RelayOverrides;
}

/** What a template may say otherwise about an agent. */
export type RelayOverrides = Partial<
  Pick<
    RelayAgent,
    | "promptTemplate"
    | "directive"
    | "systemPrompt"
    | "persistSession"
    | "claudeAgent"
    | "outputStyle"
    | "tools"
    | "pluginDirs"
  >
>;

/** Several ends at `from` are a join, several at `to` a fan-out. */
export interface RelayTransition {
  readonly from: readonly Endpoint[];
  readonly to: readonly Endpoint[];
  readonly condition: RelayCondition;
}

export type RelayCondition =
  | { readonly type: "always" }
  | {
      readonly type: "convergence";
      /** Undefined: it is never there. */
      readonly marker?: string;
      readonly maxIterations: number;
      /** What the marker means, where the template says so. */
      readonly onMarker?: "advance" | "stop";
      readonly scope: RelayScope;
    }
  | {
      readonly type: "output_contains" | "output_not_contains";
      /** In the syntax of RE2. It compiles. */
      readonly pattern: string;
      readonly scope: RelayScope;
    };

/** Which text a condition looks at: the artifact, what this step added to it, or what the agent answered. */
export type RelayScope = "artifact" | "step" | "output";

export interface RelayScripts {
  readonly onStart?: RelayScript;
  readonly onTransition?: RelayScript;
  readonly onEnd?: RelayScript;
}

export interface RelayScript {
  readonly command: string;
  readonly args: readonly string[];
  readonly timeoutMs: number;
  /** The variables that it is given beside those of every program. */
  readonly env?: readonly string[];
}

/** All agents and templates that are right; what is wrong with the others; what may be wrong. */
export interface RelayConfig {
  readonly agents: ReadonlyMap<string, RelayAgent>;
  readonly templates: ReadonlyMap<string, RelayTemplate>;
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
}

export interface Snapshot {
  /** SHA-256 of the text, in hexadecimal digits. */
  readonly hash: string;
  /** Canonical: equal configurations have equal texts. */
  readonly json: string;
}

/** A relay runs a template, or single agents one after the other; to both, agents can be added. */
export interface SnapshotContent {
  readonly template?: RelayTemplate;
  /** Those that are not the template's, each name once. */
  readonly added: readonly RelayAgent[];
}

export function takeSnapshot(content: SnapshotContent): Snapshot {
  const json = canonicalJson(content);
  return { hash: createHash("sha256").update(json).digest("hex"), json };
}

export function readSnapshot({ json }: Pick<Snapshot, "json">): SnapshotContent {
  return JSON.parse(json) as SnapshotContent;
}

/** An agent that was added counts before one of the template with the same name. */
export function agentIn({ template, added }: SnapshotContent, name: string): RelayAgent | undefined {
  return [...added, ...(template?.agents ?? [])].find((agent) => agent.name === name);
}

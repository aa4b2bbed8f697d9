/**
 * The configuration a relay runs with: its template with all agents, overrides and prompts resolved. A relay is pinned to
 * the snapshot it started with. A snapshot is identified by the hash of its content.
 */
import { createHash } from "node:crypto";
import type { Problem } from "../../config/problem.ts";
import { canonicalJson } from "../../model/json.ts";
import type { PinnedConfig } from "../../store/store.ts";
import type { Endpoint } from "./endpoint.ts";

/** In a template: the current agent where the relay is started. */
export const ACTIVE_AGENT = "__active__";

/** An agent for relays, with its prompts resolved. */
export interface RelayAgent {
  readonly name: string;
  /** May be empty. */
  readonly description: string;
  /** A profile's name, or `__active__`. */
  readonly profile: string;
  readonly persistSession: boolean;
  readonly directive?: string;
  readonly systemPrompt?: string;
  /** Undefined if the agent has stages, which have their own prompts. */
  readonly promptTemplate?: string;
  readonly stages?: Readonly<Record<string, RelayStage>>;
  /** Set if `stages` is. */
  readonly entryStage?: string;
  /** Undefined: the tools of the agent that runs the step. */
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
  /** In file order, each name once, with the template's overrides applied. */
  readonly agents: readonly RelayAgent[];
  readonly transitions: readonly RelayTransition[];
  readonly entryAgent: string;
  /** Set if the first agent has stages. */
  readonly entryStage?: string;
  readonly maxTotalSteps: number;
  readonly maxTotalCostUsd?: number;
  readonly hooks: RelayScripts;
  /** The overrides for the agent that replaces `__active__`. */
  readonly activeOverrides?: RelayOverrides;
}

/** The fields of an agent that a template may override. */
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

/** Several ends in `from` are a join, several in `to` a fan-out. */
export interface RelayTransition {
  readonly from: readonly Endpoint[];
  readonly to: readonly Endpoint[];
  readonly condition: RelayCondition;
}

export type RelayCondition =
  | { readonly type: "always" }
  | {
      readonly type: "convergence";
      /** Undefined: the condition never converges. */
      readonly marker?: string;
      readonly maxIterations: number;
      /** Undefined: inferred, see convergence.ts. */
      readonly onMarker?: "advance" | "stop";
      readonly scope: RelayScope;
    }
  | {
      readonly type: "output_contains" | "output_not_contains";
      /** A valid regular expression in RE2 syntax. */
      readonly pattern: string;
      readonly scope: RelayScope;
    };

/** The text a condition examines: the artifact, the step's additions to it, or the agent's answer. */
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
  /** Environment variables it gets in addition to those of every program. */
  readonly env?: readonly string[];
}

/** All valid agents and templates, and the problems with the others. */
export interface RelayConfig {
  readonly agents: ReadonlyMap<string, RelayAgent>;
  readonly templates: ReadonlyMap<string, RelayTemplate>;
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
}

/** A relay runs a template, or single agents one after the other. Agents can be added to both. */
export interface SnapshotContent {
  readonly template?: RelayTemplate;
  /** Agents outside the template, each name once. */
  readonly added: readonly RelayAgent[];
}

/** Equal configurations have equal JSON, and the SHA-256 of it as their hash. */
export function takeSnapshot(content: SnapshotContent): PinnedConfig {
  const json = canonicalJson(content);
  return { hash: createHash("sha256").update(json).digest("hex"), json };
}

export function readSnapshot({ json }: Pick<PinnedConfig, "json">): SnapshotContent {
  return JSON.parse(json);
}

/** An added agent takes precedence over the template's agent of the same name. */
export function agentIn({ template, added }: SnapshotContent, name: string): RelayAgent | undefined {
  return [...added, ...(template?.agents ?? [])].find((agent) => agent.name === name);
}

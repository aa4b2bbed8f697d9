/**
 * Chooses a model if none is configured: by a key in the environment, else a model server on this machine, else the
 * offline model, which needs nothing.
 */
import { activeProfile, type Config } from "./config.ts";
import { OFFLINE_PROFILE, type Profile } from "../model/profile.ts";

export interface ModelChoice {
  readonly profile: Profile;
  /** Why this one, as a sentence without a full stop. */
  readonly why: string;
  /** The variable of its key, if it is not set. */
  readonly keyMissing?: string;
}

type Environment = (name: string) => string | undefined;

/** The usual variable of each provider, and its default model. */
export const KEYED = [
  { provider: "anthropic", variable: "ANTHROPIC_API_KEY", model: "claude-sonnet-4-5" },
  { provider: "openai", variable: "OPENAI_API_KEY", model: "gpt-5.1" },
  { provider: "google", variable: "GEMINI_API_KEY", model: "gemini-2.5-pro" },
] as const;

/** Model servers with their usual ports; both speak the OpenAI protocol. */
const LOCAL = [
  { name: "Ollama", baseUrl: "http://127.0.0.1:11434/v1" },
  { name: "LM Studio", baseUrl: "http://127.0.0.1:1234/v1" },
] as const;

/** A server on this machine answers at once. */
const PROBE_MS = 300;

/** Undefined: no model is configured. */
export function configuredModel(config: Config, environment: Environment): ModelChoice | undefined {
  const profile = activeProfile(config);
  if (profile === undefined) return undefined;
  const keyMissing = findMissingVariable(profile, environment);
  return { profile, why: "it is configured", ...(keyMissing !== undefined && { keyMissing }) };
}

/** Does not load providers; `cortex doctor` checks more. */
function findMissingVariable(profile: Profile, environment: Environment): string | undefined {
  if (profile.backend !== "pi") return undefined;
  const { apiKeyEnv, provider, extraEnv } = profile;
  const variable = apiKeyEnv ?? KEYED.find((known) => known.provider === provider)?.variable;
  if (variable === undefined || (extraEnv?.[variable] ?? environment(variable) ?? "") !== "")
    return undefined;
  return variable;
}

export async function chooseModel(environment: Environment, request: typeof fetch): Promise<ModelChoice> {
  return chooseByKey(environment) ?? (await chooseLocal(request)) ?? OFFLINE;
}

const OFFLINE: ModelChoice = {
  profile: OFFLINE_PROFILE,
  why: "no API key is set and no model server is running on this machine",
};

function chooseByKey(environment: Environment): ModelChoice | undefined {
  const found = KEYED.find(({ variable }) => (environment(variable) ?? "") !== "");
  if (found === undefined) return undefined;
  const { provider, model, variable } = found;
  return {
    profile: { name: provider, backend: "pi", provider, model, apiKeyEnv: variable, fallback: [] },
    why: `${variable} is set`,
  };
}

async function chooseLocal(request: typeof fetch): Promise<ModelChoice | undefined> {
  const models = await Promise.all(
    LOCAL.map(async ({ baseUrl }) => (await findModels(baseUrl, { request, timeoutMs: PROBE_MS })).at(0)),
  );
  const place = models.findIndex((model) => model !== undefined);
  if (place === -1) return undefined;
  const { name, baseUrl } = LOCAL[place]!;
  const model = models[place]!;
  return {
    profile: { name: "local", backend: "pi", provider: "openai-compatible", model, baseUrl, fallback: [] },
    why: `${name} is running on this machine and has ${model}`,
  };
}

/** The models that a server lists, without embedding models. Empty: no model server answers. */
export async function findModels(
  baseUrl: string,
  { request, timeoutMs }: { readonly request: typeof fetch; readonly timeoutMs: number },
): Promise<string[]> {
  try {
    const url = `${baseUrl.replace(/\/+$/, "")}/models`;
    const response = await request(url, { signal: AbortSignal.timeout(timeoutMs) });
    const { data } = (await response.json()) as { data?: readonly { id?: unknown }[] };
    const ids = (data ?? []).map(({ id }) => id).filter((id) => typeof id === "string");
    return ids.filter((id) => !/embed/i.test(id));
  } catch {
    return []; // no server, or not a model server
  }
}

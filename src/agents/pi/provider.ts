/**
 * From a profile to a provider of pi's, its model and its key. Each provider is loaded on its own when first used, and its
 * client when something is sent: pi's main module takes longer to load than both together.
 *
 * Keys come from the environment and from nowhere else.
 */
import type {
  Api,
  Model as PiModel,
  Provider,
  ProviderHeaders,
  ProviderStreams,
} from "@earendil-works/pi-ai";

import { CortexError } from "../../model/errors.ts";
import type { Price, Profile } from "../../model/profile.ts";

export interface Backend {
  readonly model: PiModel<Api>;
  /** Whether the model's price is known. */
  readonly priced: boolean;
  readonly streamSimple: ProviderStreams["streamSimple"];
  /** How pi finds the key. Undefined: the user's own server, which may need none. */
  readonly auth: Provider["auth"] | undefined;
}

/** For models that are not in a catalogue. */
export const DEFAULT_CONTEXT_WINDOW = 128_000;
export const DEFAULT_MAX_TOKENS = 16_384;

export async function openBackend(profile: Profile): Promise<Backend> {
  if (profile.baseUrl !== undefined) checkBaseUrl(profile, profile.baseUrl);
  const { provider: id } = profile;
  switch (id) {
    case undefined:
      throw unconfigured(
        `Profile "${profile.name}" has no provider`,
        'Add one, for example `"provider": "anthropic"`.',
      );
    case "openai-compatible": {
      const { openAICompletionsApi } = await import("@earendil-works/pi-ai/api/openai-completions.lazy");
      const compat = olderDialect(profile.baseUrl);
      return ownServer(profile, id, openAICompletionsApi(), { api: "openai-completions", compat });
    }
    case "anthropic-compatible": {
      const { anthropicMessagesApi } = await import("@earendil-works/pi-ai/api/anthropic-messages.lazy");
      const compat = { supportsEagerToolInputStreaming: false };
      return ownServer(profile, id, anthropicMessagesApi(), { api: "anthropic-messages", compat });
    }
    default:
      return fromCatalogue(profile, await loadProvider(id, profile));
  }
}

/** The size of the model's context window, in tokens. */
export async function modelWindow(profile: Profile): Promise<number> {
  return (await openBackend(profile)).model.contextWindow;
}

function ownServer(
  profile: Profile,
  provider: string,
  streams: ProviderStreams,
  dialect: Pick<PiModel<Api>, "api" | "compat">,
): Backend {
  const { baseUrl, model: id } = profile;
  if (baseUrl === undefined) {
    throw unconfigured(
      `Profile "${profile.name}" uses ${provider} but has no baseUrl`,
      'Add the server\'s address, for example `"baseUrl": "http://127.0.0.1:11434/v1"`.',
    );
  }
  if (id === undefined) {
    throw unconfigured(
      `Profile "${profile.name}" has no model`,
      'Add `"model"` with the server\'s name for it.',
    );
  }
  const model: PiModel<Api> = {
    ...dialect,
    ...described(profile, id),
    provider,
    baseUrl: trimmedBaseUrl(dialect.api, baseUrl),
    reasoning: profile.thinking !== undefined && profile.thinking !== "off",
    input: ["text"],
    contextWindow: profile.contextWindow ?? DEFAULT_CONTEXT_WINDOW,
    maxTokens: profile.maxTokens ?? DEFAULT_MAX_TOKENS,
  };
  return {
    model,
    priced: profile.price !== undefined,
    streamSimple: (...request) => streams.streamSimple(...request),
    auth: undefined,
  };
}

async function loadProvider(id: string, profile: Profile): Promise<Provider> {
  switch (id) {
    case "anthropic":
      return (await import("@earendil-works/pi-ai/providers/anthropic")).anthropicProvider();
    case "google":
      return (await import("@earendil-works/pi-ai/providers/google")).googleProvider();
    case "openai":
      return (await import("@earendil-works/pi-ai/providers/openai")).openaiProvider();
    default: {
      const providers = (await import("@earendil-works/pi-ai/providers/all")).builtinProviders();
      const provider = providers.find((each) => each.id === id);
      if (provider !== undefined) return provider;
      const ids = ["openai-compatible", "anthropic-compatible", ...providers.map((each) => each.id)];
      throw unconfigured(
        `Unknown provider "${id}" in profile "${profile.name}"`,
        `Similar names: ${similar(id, ids).join(", ")}. For your own server, use openai-compatible.`,
      );
    }
  }
}

function fromCatalogue(profile: Profile, provider: Provider): Backend {
  const models = provider.getModels();
  const known = models.find(({ id }) => id === profile.model);
  const model: PiModel<Api> = { ...(known ?? newerModel(profile, models)) };
  if (profile.baseUrl !== undefined) model.baseUrl = trimmedBaseUrl(model.api, profile.baseUrl);
  if (profile.maxTokens !== undefined) model.maxTokens = profile.maxTokens;
  return {
    model,
    priced: known !== undefined || profile.price !== undefined,
    streamSimple: (...request) => provider.streamSimple(...request),
    auth: provider.auth,
  };
}

/** A model that is not in the catalogue is assumed to be like the one with the most similar name. */
function newerModel(profile: Profile, models: readonly PiModel<Api>[]): PiModel<Api> {
  const { model: id, baseUrl, price, contextWindow } = profile;
  if (id === undefined || (baseUrl === undefined && price === undefined)) throw modelUnknown(profile, models);
  const [relative] = similar(
    id,
    models.map((model) => model.id),
  );
  const like = models.find((model) => model.id === relative);
  if (like === undefined) throw modelUnknown(profile, models);
  return { ...like, ...described(profile, id), contextWindow: contextWindow ?? like.contextWindow };
}

function described({ price }: Profile, id: string): Pick<PiModel<Api>, "id" | "name" | "cost"> {
  return { id, name: id, cost: rates(price ?? { input: 0, output: 0 }) };
}

/** Every compatible server understands the older field names; only OpenAI's own require the newer ones. */
function olderDialect(baseUrl = ""): NonNullable<PiModel<"openai-completions">["compat"]> {
  const isOpenAi = /(^|\.)openai\.(com|azure\.com)$/.test(URL.parse(baseUrl)?.hostname ?? "");
  if (isOpenAi) return {};
  return { supportsDeveloperRole: false, supportsStore: false, maxTokensField: "max_tokens" };
}

/** Cached tokens without a price of their own cost as much as input. */
function rates({ input, output, cacheRead = input, cacheWrite = input }: Price): PiModel<Api>["cost"] {
  return { input, output, cacheRead, cacheWrite };
}

/** The client for Anthropic's protocol adds the version itself; the others expect it in the URL. */
function trimmedBaseUrl(api: Api, baseUrl: string): string {
  const trimmed = baseUrl.replace(/\/+$/, "");
  return api === "anthropic-messages" ? trimmed.replace(/\/v1$/, "") : trimmed;
}

function checkBaseUrl(profile: Profile, baseUrl: string): void {
  const url = URL.parse(baseUrl);
  const problem =
    url === null || !/^https?:$/.test(url.protocol)
      ? `has an invalid baseUrl "${baseUrl}"`
      : url.username !== "" || url.password !== ""
        ? `has credentials in its baseUrl at ${url.host}`
        : undefined;
  if (problem === undefined) return;
  throw unconfigured(
    `Profile "${profile.name}" ${problem}`,
    "Write it as http://host:port/v1, and set `apiKeyEnv` to the variable that holds the key.",
  );
}

export interface ProviderCredentials {
  readonly apiKey?: string;
  readonly headers: ProviderHeaders;
  /** Other values the provider found in the environment, such as an account id. */
  readonly environment?: Readonly<Record<string, string>>;
  /** For accounts with their own address. */
  readonly baseUrl?: string;
  /** Values that must not appear in any message. */
  readonly secrets: readonly string[];
  /** The variable that the key came from, if any. */
  readonly variable?: string;
}

type Environment = (name: string) => string | undefined;

/** Finds the key of a profile: in the variable that it names, else in the provider's usual ones. */
export async function findCredentials(
  profile: Profile,
  { auth }: Backend,
  environment: Environment,
): Promise<ProviderCredentials> {
  const lookUp: Environment = (name) => nonEmpty(profile.extraEnv?.[name]) ?? nonEmpty(environment(name));
  const named = profile.apiKeyEnv;
  const key = named === undefined ? undefined : lookUp(named);
  if (named !== undefined && key === undefined) throw keyMissing(profile, [named]);

  if (auth === undefined) return key === undefined ? KEYLESS : ofKey(key, named);
  if (auth.apiKey === undefined) {
    throw unconfigured(
      `Profile "${profile.name}" uses ${profile.provider}, which needs a login instead of a key`,
      "Use a provider that takes a key.",
    );
  }
  const asked: string[] = [];
  const resolved = await auth.apiKey.resolve({
    ctx: {
      env: async (name) => {
        asked.push(name);
        return lookUp(name);
      },
      fileExists: async () => false,
    },
    ...(key !== undefined && { credential: { type: "api_key", key } }),
    signal: new AbortController().signal, // never aborted: reading the environment takes no time
  });
  if (resolved === undefined) throw keyMissing(profile, asked);

  const { auth: found, env = {}, source } = resolved;
  const { apiKey, headers = {}, baseUrl } = found;
  return {
    ...(apiKey !== undefined && { apiKey }),
    headers,
    ...(baseUrl !== undefined && { baseUrl }),
    secrets: secretsOf(apiKey, headers),
    environment: env,
    ...optionalVariable(named ?? source),
  };
}

/** pi's clients require a key; its header is then removed. */
const KEYLESS: ProviderCredentials = {
  apiKey: "none",
  headers: { Authorization: null, "X-Api-Key": null },
  secrets: [],
};

function ofKey(apiKey: string, variable: string | undefined): ProviderCredentials {
  return { apiKey, headers: {}, secrets: [apiKey], ...optionalVariable(variable) };
}

function optionalVariable(variable: string | undefined): { variable?: string } {
  return variable === undefined ? {} : { variable };
}

function secretsOf(apiKey: string | undefined, headers: ProviderHeaders): string[] {
  const values = Object.values(headers).filter((value) => value !== null);
  return [apiKey, ...values.map((value) => value.replace(/^Bearer /, ""))].filter(
    (secret) => secret !== undefined,
  );
}

function keyMissing(profile: Profile, variables: readonly string[]): CortexError {
  const usual = variables.find((name) => name.endsWith("API_KEY")) ?? variables[0] ?? "its variable";
  return unconfigured(
    `Profile "${profile.name}" has no key for ${profile.provider}`,
    `Set ${usual} in the environment, or set the profile's \`apiKeyEnv\` to another variable.`,
  );
}

function nonEmpty(value: string | undefined): string | undefined {
  return value === "" ? undefined : value;
}

function modelUnknown(profile: Profile, models: readonly PiModel<Api>[]): CortexError {
  const { name, provider, model } = profile;
  const ids = models.map(({ id }) => id);
  if (model === undefined) {
    return unconfigured(
      `Profile "${name}" has no model`,
      `Models of ${provider} include ${ids.slice(-3).join(", ")}.`,
    );
  }
  return unconfigured(
    `Unknown model "${model}" of ${provider} in profile "${name}"`,
    `Similar names: ${similar(model, ids).join(", ")}. For a model newer than the catalogue, set its \`price\` in the profile.`,
  );
}

function unconfigured(message: string, hint: string): CortexError {
  return new CortexError("model_unconfigured", message, { hint });
}

/** The three names that share the most pairs of letters with this one. */
function similar(name: string, names: readonly string[]): string[] {
  const wanted = pairs(name);
  const score = (other: string): number => {
    const theirs = pairs(other);
    return (2 * [...wanted].filter((pair) => theirs.has(pair)).length) / (wanted.size + theirs.size);
  };
  return names.toSorted((a, b) => score(b) - score(a)).slice(0, 3);
}

function pairs(name: string): Set<string> {
  const text = ` ${name.toLowerCase()} `;
  return new Set(Array.from(text, (_, at) => text.slice(at, at + 2)));
}

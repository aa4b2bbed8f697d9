/**
 * From a profile to one of pi's providers and models. Each provider is loaded alone and when it is first
 * asked for, its client when something is sent: pi's main module takes longer to load than both together.
 */
import type { Api, Model as PiModel, Provider, ProviderStreams } from "@earendil-works/pi-ai";

import { CortexError } from "../../model/errors.ts";
import type { Price, Profile } from "../../model/profile.ts";

export interface Backend {
  readonly model: PiModel<Api>;
  /** Whether the model's price is known. */
  readonly priced: boolean;
  readonly streamSimple: ProviderStreams["streamSimple"];
  /** How pi finds the key. Undefined: a server of the user's own, which may need none. */
  readonly auth: Provider["auth"] | undefined;
}

/** For models that no catalogue knows. */
export const DEFAULT_CONTEXT_WINDOW = 128_000;
export const DEFAULT_MAX_TOKENS = 16_384;

export async function openBackend(profile: Profile): Promise<Backend> {
  if (profile.baseUrl !== undefined) checkBaseUrl(profile, profile.baseUrl);
  switch (profile.provider) {
    case undefined:
      throw unconfigured(
        `Profile "${profile.name}" names no provider`,
        'Add `"provider": "anthropic"`, say.',
      );
    case "openai-compatible": {
      const { openAICompletionsApi } = await import("@earendil-works/pi-ai/api/openai-completions.lazy");
      const compat = olderDialect(profile.baseUrl);
      return ownServer(profile, openAICompletionsApi(), { api: "openai-completions", compat });
    }
    case "anthropic-compatible": {
      const { anthropicMessagesApi } = await import("@earendil-works/pi-ai/api/anthropic-messages.lazy");
      const compat = { supportsEagerToolInputStreaming: false };
      return ownServer(profile, anthropicMessagesApi(), { api: "anthropic-messages", compat });
    }
    default:
      return fromCatalogue(profile, await loadProvider(profile.provider, profile));
  }
}

/** How many tokens a conversation with this model may have. */
export async function modelWindow(profile: Profile): Promise<number> {
  return (await openBackend(profile)).model.contextWindow;
}

function ownServer(
  profile: Profile,
  streams: ProviderStreams,
  dialect: Pick<PiModel<Api>, "api" | "compat">,
): Backend {
  const { provider, baseUrl, model: id } = profile;
  if (baseUrl === undefined) {
    throw unconfigured(
      `Profile "${profile.name}" is ${provider} and names no server`,
      'Add its address, `"baseUrl": "http://127.0.0.1:11434/v1"`, say.',
    );
  }
  if (id === undefined) {
    throw unconfigured(`Profile "${profile.name}" names no model`, 'Add `"model"`, as the server calls it.');
  }
  const model: PiModel<Api> = {
    ...dialect,
    ...described(profile, id),
    provider: profile.provider!,
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
        `Profile "${profile.name}" names the provider "${id}", which is not known`,
        `Providers with a similar name are ${similar(id, ids).join(", ")}. For a server of your own: openai-compatible.`,
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

/** A model that the catalogue does not know is taken to be like the one with the most similar name. */
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

/** What servers of every make understand; only OpenAI's own insist on the newer names. */
function olderDialect(baseUrl = ""): NonNullable<PiModel<"openai-completions">["compat"]> {
  const isOpenAi = /(^|\.)openai\.(com|azure\.com)$/.test(URL.parse(baseUrl)?.hostname ?? "");
  if (isOpenAi) return {};
  return { supportsDeveloperRole: false, supportsStore: false, maxTokensField: "max_tokens" };
}

/** Where the price of cached tokens is not given, they cost what others cost. */
function rates({ input, output, cacheRead = input, cacheWrite = input }: Price): PiModel<Api>["cost"] {
  return { input, output, cacheRead, cacheWrite };
}

/** The client for Anthropic's protocol adds the version by itself, the others expect it in the address. */
function trimmedBaseUrl(api: Api, baseUrl: string): string {
  const trimmed = baseUrl.replace(/\/+$/, "");
  return api === "anthropic-messages" ? trimmed.replace(/\/v1$/, "") : trimmed;
}

function checkBaseUrl(profile: Profile, baseUrl: string): void {
  const url = URL.parse(baseUrl);
  const problem =
    url === null || !/^https?:$/.test(url.protocol)
      ? `has the baseUrl "${baseUrl}", which is no address`
      : url.username !== "" || url.password !== ""
        ? `has credentials in its baseUrl at ${url.host}`
        : undefined;
  if (problem === undefined) return;
  throw unconfigured(
    `Profile "${profile.name}" ${problem}`,
    "Write it as http://host:port/v1, and name the variable that holds the key in `apiKeyEnv`.",
  );
}

function modelUnknown(profile: Profile, models: readonly PiModel<Api>[]): CortexError {
  const { name, provider, model } = profile;
  const ids = models.map(({ id }) => id);
  if (model === undefined) {
    return unconfigured(
      `Profile "${name}" names no model`,
      `Models of ${provider} are, for example, ${ids.slice(-3).join(", ")}.`,
    );
  }
  return unconfigured(
    `Profile "${name}" names the model "${model}", which is not in the catalogue of ${provider}`,
    `Similar are ${similar(model, ids).join(", ")}. A model that is newer than the catalogue needs its \`price\` in the profile.`,
  );
}

export function unconfigured(message: string, hint: string): CortexError {
  return new CortexError("model_unconfigured", message, { hint });
}

/** The names that have the most pairs of letters in common with this one. */
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

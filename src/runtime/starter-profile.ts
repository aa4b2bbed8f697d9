/** The profile to begin with, from what a person says in a few words. */
import { CortexError } from "../model/errors.ts";
import { OFFLINE_PROFILE, type Profile } from "../model/profile.ts";
import { findModels } from "../config/choose-model.ts";

export interface StarterProfile {
  readonly name: string;
  /** As profiles.json has it. Undefined: the one that comes with Cortex. */
  readonly profile: StarterEntry | undefined;
}

interface StarterEntry {
  readonly backend: "pi";
  readonly provider: string;
  readonly model: string;
  readonly baseUrl?: string;
  readonly apiKeyEnv?: string;
}

interface StarterWish {
  /** `offline`, `anthropic/claude-sonnet-4-5`, or as a server of one's own calls it. */
  readonly model: string | undefined;
  readonly baseUrl: string | undefined;
  /** The variable with the key. */
  readonly keyEnv: string | undefined;
}

/** A server that somebody has named is given more time than one that may not be there. */
const LIST_MS = 5_000;

/** Undefined: nothing is wished for. Throws `usage`, and `model_unconfigured` where no model is like that. */
export async function starterProfile(
  { model, baseUrl, keyEnv }: StarterWish,
  request: typeof fetch,
): Promise<StarterProfile | undefined> {
  const key = keyEnv === undefined ? {} : { apiKeyEnv: keyEnv };
  if (baseUrl !== undefined) {
    const found = model ?? (await firstModel(baseUrl, request));
    return checked("local", {
      backend: "pi",
      provider: "openai-compatible",
      model: found,
      baseUrl,
      ...key,
    });
  }
  if (model === undefined) return undefined;
  if (model === OFFLINE_PROFILE.name) return { name: model, profile: undefined };
  const [, provider, id] = /^([^/\s]+)\/(\S+)$/.exec(model) ?? [];
  if (provider === undefined || id === undefined) throw unclear(model);
  return checked(provider, { backend: "pi", provider, model: id, ...key });
}

/** What is wrong with its key, if something is. */
export async function findMissingKey(
  { name, profile }: StarterProfile,
  variable: (name: string) => string | undefined,
): Promise<CortexError | undefined> {
  if (profile === undefined) return undefined;
  const { findCredentials, openBackend } = await import("../agents/pi/provider.ts");
  const whole: Profile = { name, ...profile, fallback: [] };
  try {
    await findCredentials(whole, await openBackend(whole), variable);
    return undefined;
  } catch (error) {
    if (error instanceof CortexError) return error;
    throw error;
  }
}

async function checked(name: string, profile: StarterEntry): Promise<StarterProfile> {
  const { openBackend } = await import("../agents/pi/provider.ts");
  await openBackend({ name, ...profile, fallback: [] });
  return { name, profile };
}

async function firstModel(baseUrl: string, request: typeof fetch): Promise<string> {
  const [first] = await findModels(baseUrl, { request, timeoutMs: LIST_MS });
  if (first !== undefined) return first;
  throw new CortexError("usage", `No model given, and ${baseUrl} lists no models`, {
    hint: "Set --model, or check that the server is running and the URL ends in /v1.",
  });
}

function unclear(model: string): CortexError {
  return new CortexError("usage", `Missing provider in model "${model}"`, {
    hint: "Use a name such as anthropic/claude-sonnet-4-5, or offline; for your own model server, set --base-url.",
  });
}

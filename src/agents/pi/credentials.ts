/** Keys, which come from the environment and from nowhere else. */
import type { ProviderHeaders } from "@earendil-works/pi-ai";

import type { CortexError } from "../../model/errors.ts";
import type { Profile } from "../../model/profile.ts";
import { type Backend, unconfigured } from "./provider.ts";

export interface Credentials {
  readonly apiKey?: string;
  readonly headers: ProviderHeaders;
  /** What else the provider found there, such as the number of the account. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Where the provider's account has an address of its own. */
  readonly baseUrl?: string;
  /** What must not be in any message. */
  readonly secrets: readonly string[];
  /** The variable that the key came from. Undefined: there is none. */
  readonly variable?: string;
}

type Environment = (name: string) => string | undefined;

/** Finds the key of a profile: in the variable that it names, else where the provider's users keep it. */
export async function findCredentials(
  profile: Profile,
  { auth }: Backend,
  environment: Environment,
): Promise<Credentials> {
  const lookUp: Environment = (name) => nonEmpty(profile.extraEnv?.[name]) ?? nonEmpty(environment(name));
  const named = profile.apiKeyEnv;
  const key = named === undefined ? undefined : lookUp(named);
  if (named !== undefined && key === undefined) throw keyMissing(profile, [named]);

  if (auth === undefined) return key === undefined ? KEYLESS : ofKey(key, named);
  if (auth.apiKey === undefined) {
    throw unconfigured(
      `Profile "${profile.name}" uses ${profile.provider}, which takes no keys but a login`,
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
    signal: new AbortController().signal, // Looking into the environment takes no time.
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

/** The clients insist on a key; its header is then left out. */
const KEYLESS: Credentials = {
  apiKey: "none",
  headers: { Authorization: null, "X-Api-Key": null },
  secrets: [],
};

function ofKey(apiKey: string, variable: string | undefined): Credentials {
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
    `Set ${usual} in the environment, or name another variable in the profile's \`apiKeyEnv\`.`,
  );
}

function nonEmpty(value: string | undefined): string | undefined {
  return value === "" ? undefined : value;
}

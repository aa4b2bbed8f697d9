/**
 * Requests the model list of a profile's server. This is free and shows that the server responds and accepts the key, and
 * whether a self-hosted one has the model.
 */
import { codeOf } from "../model/error-code.ts";
import type { Profile } from "../model/profile.ts";

type Environment = (name: string) => string | undefined;

export interface PingProblem {
  /** refused: the configuration must be fixed. silent: a later attempt may succeed. */
  readonly kind: "refused" | "silent";
  readonly message: string;
  readonly hint: string;
}

const PING_MS = 5_000;
const MODELS_NAMED = 5;

/** Undefined: no problem, or the protocol has no model list. The key must be set. */
export async function pingProfile(
  profile: Profile,
  { variable, request }: { variable: Environment; request: typeof fetch },
): Promise<PingProblem | undefined> {
  const asked = await listRequest(profile, variable);
  if (asked === undefined) return undefined;
  const { url, headers, keyName } = asked;
  let response: Response;
  try {
    response = await request(url, { headers, signal: AbortSignal.timeout(PING_MS) });
  } catch (error) {
    const message = `Profile "${profile.name}": no response from ${new URL(url).host} (${reasonOf(error)})`;
    return { kind: "silent", message, hint: "Check that it is running and reachable from this machine." };
  }
  const { status } = response;
  if (status === 401 || status === 403) {
    const message = `Profile "${profile.name}": ${new URL(url).host} rejected the API key (${status})`;
    const hint =
      keyName === undefined
        ? "Set `apiKeyEnv` to the variable with the key."
        : `Set ${keyName} to a valid key.`;
    return { kind: "refused", message, hint };
  }
  if (status >= 500) {
    const message = `Profile "${profile.name}": ${new URL(url).host} returned status ${status}`;
    return { kind: "silent", message, hint: "Try again later; a profile can have fallbacks." };
  }
  return missesModel(profile, await idsIn(response));
}

/** Undefined: the protocol has no model list. */
async function listRequest(profile: Profile, variable: Environment) {
  const { findCredentials, openBackend } = await import("../agents/pi/provider.ts");
  const backend = await openBackend(profile);
  const found = await findCredentials(profile, backend, variable);
  const protocol = LISTS[backend.model.api];
  if (protocol === undefined) return undefined;
  const baseUrl = (found.baseUrl ?? backend.model.baseUrl).replace(/\/+$/, "");
  const key = found.secrets.length === 0 ? undefined : found.apiKey;
  const headers = { ...(key === undefined ? {} : protocol.headers(key)), ...found.headers };
  return {
    url: `${baseUrl}${protocol.path}`,
    headers: Object.entries(headers).filter((entry): entry is [string, string] => entry[1] !== null),
    keyName: found.variable,
  };
}

interface ModelList {
  readonly path: string;
  readonly headers: (key: string) => Readonly<Record<string, string>>;
}

const OF_OPENAI: ModelList = { path: "/models", headers: (key) => ({ authorization: `Bearer ${key}` }) };

/** By pi's names of the protocols. */
const LISTS: Readonly<Record<string, ModelList>> = {
  "anthropic-messages": {
    path: "/v1/models",
    headers: (key) => ({ "x-api-key": key, "anthropic-version": "2023-06-01" }),
  },
  "google-generative-ai": { path: "/models", headers: (key) => ({ "x-goog-api-key": key }) },
  "openai-completions": OF_OPENAI,
  "openai-responses": OF_OPENAI,
};

/** Large providers paginate and use aliases; only a self-hosted server lists exactly the models it has. */
function missesModel({ name, provider, model }: Profile, ids: readonly string[]): PingProblem | undefined {
  if (provider !== "openai-compatible" || model === undefined || ids.length === 0) return undefined;
  if (ids.some((id) => id === model || id === `${model}:latest`)) return undefined;
  const message = `Profile "${name}": model "${model}" not found on its server`;
  return { kind: "refused", message, hint: `Available: ${ids.slice(0, MODELS_NAMED).join(", ")}.` };
}

async function idsIn(response: Response): Promise<string[]> {
  try {
    const { data } = (await response.json()) as { data?: readonly { id?: unknown }[] };
    return (data ?? []).map(({ id }) => id).filter((id) => typeof id === "string");
  } catch {
    return []; // no model list, but it responds
  }
}

/** Without the address, which may contain credentials. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return "unknown";
  return codeOf(error.cause) ?? (error.name === "TimeoutError" ? `${PING_MS / 1_000} s` : error.name);
}

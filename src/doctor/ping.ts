/**
 * Asks the server of a profile for the list of its models. That costs nothing, and shows that it is there, that it
 * takes the key, and whether a server of one's own has the model.
 */
import type { Profile } from "../model/profile.ts";

type Environment = (name: string) => string | undefined;

export interface PingProblem {
  /** refused: it will not work until somebody changes something. silent: it may later. */
  readonly kind: "refused" | "silent";
  readonly message: string;
  readonly hint: string;
}

/** A server that takes longer for a list is of little use. */
const PING_MS = 5_000;
const MODELS_NAMED = 5;

/** Undefined: nothing is wrong, or nothing can be asked. The key must have been found before. */
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
    const message = `Profile "${profile.name}": ${new URL(url).host} does not answer (${reasonOf(error)})`;
    return { kind: "silent", message, hint: "Check that it runs and that this machine can reach it." };
  }
  const { status } = response;
  if (status === 401 || status === 403) {
    const message = `Profile "${profile.name}": ${new URL(url).host} refuses the key (${status})`;
    const hint =
      keyName === undefined
        ? "Name the variable with the key in `apiKeyEnv`."
        : `Set ${keyName} to one that is valid.`;
    return { kind: "refused", message, hint };
  }
  if (status >= 500) {
    const message = `Profile "${profile.name}": ${new URL(url).host} answers with ${status}`;
    return { kind: "silent", message, hint: "Try again later; profiles can name others to fall back on." };
  }
  return missesModel(profile, await idsIn(response));
}

/** Undefined: not every protocol has such a list. */
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

/** By what pi calls the protocols. */
const LISTS: Readonly<Record<string, ModelList>> = {
  "anthropic-messages": {
    path: "/v1/models",
    headers: (key) => ({ "x-api-key": key, "anthropic-version": "2023-06-01" }),
  },
  "google-generative-ai": { path: "/models", headers: (key) => ({ "x-goog-api-key": key }) },
  "openai-completions": OF_OPENAI,
  "openai-responses": OF_OPENAI,
};

/** Large providers list their models in pages and by aliases; a server of one's own has what it lists. */
function missesModel({ name, provider, model }: Profile, ids: readonly string[]): PingProblem | undefined {
  if (provider !== "openai-compatible" || model === undefined || ids.length === 0) return undefined;
  if (ids.some((id) => id === model || id === `${model}:latest`)) return undefined;
  const message = `Profile "${name}": its server has no model "${model}"`;
  return { kind: "refused", message, hint: `It has ${ids.slice(0, MODELS_NAMED).join(", ")}.` };
}

async function idsIn(response: Response): Promise<string[]> {
  try {
    const { data } = (await response.json()) as { data?: readonly { id?: unknown }[] };
    return (data ?? []).map(({ id }) => id).filter((id) => typeof id === "string");
  } catch {
    return []; // it has no such list, and is there
  }
}

/** Without the address, which may hold what is nobody's business. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return "unknown";
  const cause = error.cause as NodeJS.ErrnoException | undefined;
  return cause?.code ?? (error.name === "TimeoutError" ? `${PING_MS / 1_000} s` : error.name);
}

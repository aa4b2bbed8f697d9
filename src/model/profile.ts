/** A named backend and model, as configured. */
export interface Profile {
  readonly name: string;
  readonly backend: "pi" | "offline";
  /** anthropic, openai, google, openai-compatible, anthropic-compatible, or any other that the backend knows. */
  readonly provider?: string;
  readonly model?: string;
  readonly baseUrl?: string;
  /** The name of the environment variable that holds the key, never the key. */
  readonly apiKeyEnv?: string;
  readonly thinking?: "off" | "minimal" | "low" | "medium" | "high" | "xhigh";
  /** USD per million tokens, for models that the catalogue does not know. */
  readonly price?: Price;
  /** The model's window in tokens, for models that the catalogue does not know. */
  readonly contextWindow?: number;
  /** The most that one answer may have, in tokens. */
  readonly maxTokens?: number;
  readonly extraEnv?: Readonly<Record<string, string>>;
  readonly extraOption?: Readonly<Record<string, string>>;
  /** Offline: the script that it plays, an absolute path. */
  readonly script?: string;
  /** Profiles to go on with when this one fails. */
  readonly fallback: readonly string[];
}

export interface Price {
  readonly input: number;
  readonly output: number;
  readonly cacheRead?: number;
  readonly cacheWrite?: number;
}

/** Whatever profile is the active one. */
export const ACTIVE_PROFILE = "__active__";
export const OFFLINE_PROFILE: Profile = { name: "offline", backend: "offline", fallback: [] };

/** What must never be recorded, shown or sent: the values of all that is configured as a secret. */

import type { Config } from "../config/config.ts";
import { readConfig } from "../config/read.ts";
import { SETTINGS } from "../config/overrides.ts";
import { readPrivate } from "../model/private-file.ts";
import { createRedact, type Redact, type Secret } from "../model/redact.ts";
import { redactTokens } from "../model/token.ts";
import { PASSED_ON } from "../programs/environment.ts";
import { tokenPath } from "../config/home.ts";
import type { Settings } from "../config/settings.ts";

type Variables = Readonly<Record<string, string | undefined>>;

interface SecretInput {
  readonly config: Config;
  /** Looks a variable up, in the environment or in `config/.env`. */
  readonly variable: (name: string) => string | undefined;
  readonly fileVariables: ReadonlyMap<string, string>;
  /** The variables of the process. */
  readonly environment: Variables;
  /** What opens the server. Undefined: there is none yet. */
  readonly token: string | undefined;
}

/** The token is replaced by hand, and nobody tells us. */
const TOKEN_EVERY_MS = 1_000;

/** Takes out what is a secret now: it follows the configuration, and the token within a second. */
export function followSecrets(given: {
  readonly home: string;
  readonly environment: Variables;
  readonly settings: Pick<Settings, "config" | "variable" | "fileVariables">;
  readonly clock: () => number;
}): Redact {
  const { home, environment, settings, clock } = given;
  let known: { config: Config; token: string | undefined; redact: Redact } | undefined;
  let token: string | undefined;
  let lookedAtMs = -Infinity;
  return (text) => {
    const nowMs = clock();
    if (Math.abs(nowMs - lookedAtMs) >= TOKEN_EVERY_MS) {
      token = readToken(home);
      lookedAtMs = nowMs;
    }
    const config = settings.config();
    if (known?.config !== config || known.token !== token) {
      const { variable } = settings;
      const fileVariables = settings.fileVariables();
      const secrets = collectSecrets({ config, variable, fileVariables, environment, token });
      known = { config, token, redact: createRedact(secrets) };
    }
    return redactTokens(known.redact(text));
  };
}

/** One a value: of several names, the one that says most comes first. */
export function collectSecrets(sources: SecretInput): Secret[] {
  const { config, variable, fileVariables, environment, token } = sources;
  const credentials = Object.values(config.personas).flatMap(({ permissions }) => permissions.credentials);
  const all: readonly (readonly [name: string, value: string | undefined])[] = [
    ["server token", token],
    ...[...variablesNamedInConfig(config), ...credentials].map((name) => [name, variable(name)] as const),
    ...[...fileVariables].filter(([name]) => !NO_SECRETS.has(name)),
    ...Object.entries(environment).filter(([name]) => soundsSecret(name)),
    ...Object.values(config.profiles).flatMap(({ apiKeyEnv, extraEnv, extraOption }) =>
      Object.entries({ ...extraOption, ...extraEnv }).filter(
        ([name]) => name === apiKeyEnv || soundsSecret(name),
      ),
    ),
  ];
  const byValue = new Map<string, string>();
  for (const [name, given = ""] of all) {
    const value = given.trim();
    if (value !== "" && !byValue.has(value)) byValue.set(value, name);
  }
  return Array.from(byValue, ([value, name]) => ({ name, value }));
}

/** These are settings, also in `config/.env`: an address or a time zone is found in many texts. */
const NO_SECRETS: ReadonlySet<string> = new Set([
  ...PASSED_ON,
  ...SETTINGS.map(({ variable }) => variable),
  "CORTEX_HOME",
]);

/** Providers look for keys in many variables of the environment; all of them are called something like this. */
function soundsSecret(name: string): boolean {
  return /(?:^|[_-])(?:(?:api|access)?key|token|secret|password|passwd)(?:$|[_-])/i.test(name);
}

/** Neither names a variable, and the time zone is expensive to find: see config/read.ts. */
const NO_VARIABLES: ReadonlySet<string> = new Set(["origins", "timezone"] satisfies (keyof Config)[]);

function variablesNamedInConfig(config: Config): string[] {
  const parts = (Object.keys(config) as (keyof Config)[]).filter((part) => !NO_VARIABLES.has(part));
  return parts.flatMap((part) => variablesNamedIn({ [part]: config[part] }));
}

/** Wherever the configuration wants a secret, it takes the name of a variable: `apiKeyEnv`, `secretEnv`, `env`. */
function variablesNamedIn(value: unknown): string[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    if (typeof inner === "string") return key.endsWith("Env") ? [inner] : [];
    if (key === "env" && Array.isArray(inner)) return inner.map(String);
    return variablesNamedIn(inner);
  });
}

function readToken(home: string): string | undefined {
  try {
    return readPrivate(tokenPath(home));
  } catch {
    return undefined; // There is none yet. What cannot be read opens nothing either.
  }
}

/** Takes out of a text what a Cortex of this home would not record. Throws `config_invalid`. */
export async function readRedact(given: {
  readonly home: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
}): Promise<Redact> {
  const { config, environment, fileVariables } = await readConfig(given);
  const settings = { config: () => config, variable: environment, fileVariables };
  return followSecrets({ ...given, settings, clock: Date.now });
}

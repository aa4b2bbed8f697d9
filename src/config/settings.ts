/** The configuration as it is now, and the model that it means. */
import { type Config, profile as profileOf } from "./config.ts";
import type { Flags } from "./overrides.ts";
import { watchConfig } from "./watch.ts";
import { writeSchemas } from "./write-schemas.ts";
import { ACTIVE_PROFILE, type Profile } from "../model/profile.ts";
import { chooseModel, configuredModel, type ModelChoice } from "./choose-model.ts";
import { systemTimezone } from "./system-timezone.ts";

export interface Settings extends AsyncDisposable {
  config(): Config;
  /** A profile by its name; `__active__` is the one that is chosen. */
  profile(name: string): Profile;
  model(): ModelChoice;
  /** A variable of the environment or of `config/.env`. */
  readonly variable: (name: string) => string | undefined;
  /** All that `config/.env` holds. */
  fileVariables(): ReadonlyMap<string, string>;
}

interface SettingsOptions {
  readonly home: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly flags: Flags;
  readonly log: (line: string) => void;
  readonly onChange: () => void;
}

export async function openSettings({
  home,
  environment,
  flags,
  log,
  onChange,
}: SettingsOptions): Promise<Settings> {
  let zone: string | undefined;
  const watch = await watchConfig(
    {
      home,
      environment,
      flags,
      get systemTimezone() {
        return (zone ??= systemTimezone());
      },
    },
    {
      onChange() {
        log("Configuration reloaded.");
        onChange();
      },
      onProblem(problem) {
        log(`${problem.message}\nThe previous configuration stays in effect.`);
      },
    },
  );
  await writeSchemas(home);
  // Looked for once: what is found later counts from the next start, and is said there.
  const found = await chooseModel(watch.current.environment, fetch);
  const model = (): ModelChoice => configuredModel(watch.current.config, watch.current.environment) ?? found;
  /** What was found has a name too: a turn that goes on after a crash asks for it. */
  const profile = (name: string): Profile => {
    const { config } = watch.current;
    if (name === ACTIVE_PROFILE) return model().profile;
    return name === found.profile.name && !Object.hasOwn(config.profiles, name)
      ? found.profile
      : profileOf(config, name);
  };
  return {
    config: () => watch.current.config,
    profile,
    model,
    variable: (name) => watch.current.environment(name),
    fileVariables: () => watch.current.fileVariables(),
    [Symbol.asyncDispose]: () => watch[Symbol.asyncDispose](),
  };
}

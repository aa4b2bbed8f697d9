/** The current configuration, and the model that is active by it. */
import { type Config, profile as profileOf } from "./config.ts";
import type { Flags } from "./overrides.ts";
import type { LoadedConfig } from "./read.ts";
import { watchConfig } from "./watch.ts";
import { writeSchemas } from "./write-schemas.ts";
import { ACTIVE_PROFILE, type Profile } from "../model/profile.ts";
import { chooseModel, configuredModel, type ModelChoice } from "./choose-model.ts";

export interface Settings extends AsyncDisposable {
  config(): Config;
  /** A profile by its name, `__active__` included. Throws `profile_unknown`. */
  profile(name: string): Profile;
  model(): ModelChoice;
  /** A variable of the environment or of `config/.env`. */
  readonly variable: (name: string) => string | undefined;
  /** The variables of `config/.env`. */
  fileVariables(): ReadonlyMap<string, string>;
  /** Reads the files now, instead of when the system reports a change. */
  reload(): Promise<void>;
}

interface SettingsOptions {
  readonly home: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly flags: Flags;
  readonly log: (line: string) => void;
  readonly onChange: () => void;
}

export async function openSettings(options: SettingsOptions): Promise<Settings> {
  const { home, log, onChange } = options;
  const watch = await watchConfig(options, {
    onChange() {
      log("Configuration reloaded.");
      onChange();
    },
    onProblem({ message }) {
      log(`${message}\nThe previous configuration stays in effect.`);
    },
  });
  await writeSchemas(home);
  // Searched for once: a model that appears later is found by the next start, which reports it.
  const found = await chooseModel(watch.current.environment, fetch);
  let active: { readonly of: LoadedConfig; readonly choice: ModelChoice } | undefined;
  const model = (): ModelChoice => {
    const { current } = watch;
    if (active?.of !== current) {
      active = { of: current, choice: configuredModel(current.config, current.environment) ?? found };
    }
    return active.choice;
  };
  return {
    config: () => watch.current.config,
    /** The model that was found has a name too: a turn that continues after a crash asks for it. */
    profile(name) {
      const { config } = watch.current;
      if (name === ACTIVE_PROFILE) return model().profile;
      return name === found.profile.name && !Object.hasOwn(config.profiles, name)
        ? found.profile
        : profileOf(config, name);
    },
    model,
    variable: (name) => watch.current.environment(name),
    fileVariables: () => watch.current.fileVariables(),
    reload: () => watch.check(),
    [Symbol.asyncDispose]: () => watch[Symbol.asyncDispose](),
  };
}

/** Checks the configuration, API keys, agents and their folders, and the sandbox. */
import { existsSync } from "node:fs";
import { relative } from "node:path";

import type { Config } from "../config/config.ts";
import { CortexError } from "../model/errors.ts";
import { OFFLINE_PROFILE, type Profile } from "../model/profile.ts";
import { MIN_SECRET_LENGTH } from "../model/redact.ts";
import { checkAgents } from "../personas/check-agents.ts";
import { chooseModel, configuredModel } from "../config/choose-model.ts";
import { type Configured, readConfigured } from "../config/configured.ts";
import { type Check, fail, ok, refusalBy, warn } from "../feature/check.ts";
import type { CheckedHome, Feature } from "../feature/feature.ts";
import { pingProfile, type PingProblem } from "./ping.ts";
import { checkQuotas } from "./check-quotas.ts";
import { checkPort } from "./check-machine.ts";
import { describeSandbox, findBubblewrap, sandboxMode, type SandboxMode } from "../turns/sandbox.ts";
import { describeUnset } from "../config/describe-unset.ts";
import { isSet, unsetVariables } from "../config/unset-variables.ts";

interface ConfigCheck extends CheckedHome {
  readonly features: readonly Feature[];
  readonly isServed: boolean;
}

/** Stops at an invalid configuration: nothing else can be checked then. */
export async function checkConfig(sources: ConfigCheck): Promise<Check[]> {
  let configured: Configured;
  try {
    configured = await readConfigured(sources);
  } catch (error) {
    return [refusalBy("config", error)];
  }
  const { config, variable } = configured;
  const [profiles, agents, found, quotas] = await Promise.all([
    checkProfiles(configured, sources.request),
    checkAgents({ ...sources, config, variable }),
    findBubblewrap(sources.environment),
    checkQuotas(sources.home, config),
  ]);
  return [
    ok("config", "valid"),
    ...profiles,
    // Keys were checked with the profiles.
    ...agents
      .filter(({ path }) => !path.endsWith(".profile"))
      .map(({ level, path, message, hint }) =>
        (level === "error" ? fail : warn)("agents", `${path}: ${message}`, hint),
      ),
    ...checkRoots(sources.home, config),
    ...checkCredentials(config, variable),
    ...checkVariables(config, variable),
    ...checkFolders(config),
    ...(await Promise.all(sources.features.flatMap(({ check }) => check?.(sources) ?? []))).flat(),
    ...quotas,
    checkSandbox(sandboxMode(config.sandbox, found)),
    ...(sources.isServed ? [] : [await checkPort(config.server)]),
  ];
}

/** Checks that each profile has what it needs, and that its server responds and accepts the key. */
async function checkProfiles(
  { config, variable }: Configured,
  request: typeof fetch | undefined,
): Promise<Check[]> {
  const configured = configuredModel(config, variable);
  const { profile, why } = configured ?? (await chooseModel(variable, request ?? unreachable));
  const others = Object.values(config.profiles).filter(({ name }) => name !== profile.name);
  const [problem, ...problems] = await Promise.all(
    [profile, ...others].map((each) => findProblem(each, variable, request)),
  );
  return [
    problem !== undefined
      ? (problem.kind === "refused" ? fail : warn)("model", problem.message, problem.hint)
      : configured === undefined && profile.backend === OFFLINE_PROFILE.backend
        ? NO_MODEL
        : ok("model", `${profile.model ?? profile.name}, because ${why}`),
    ...problems
      .filter((each) => each !== undefined)
      .map(({ message, hint }) => warn("profiles", message, hint)),
  ];
}

const NO_MODEL = warn(
  "model",
  "No model is configured and no API key is set; without a local model server, the offline model answers",
  'Set ANTHROPIC_API_KEY, set "defaultProfile" in config/profiles.json, or start a model server such as Ollama.',
);

async function findProblem(
  profile: Profile,
  variable: Configured["variable"],
  request: typeof fetch | undefined,
): Promise<PingProblem | undefined> {
  if (profile.backend !== "pi") return undefined;
  const { findCredentials, openBackend } = await import("../agents/pi/provider.ts");
  try {
    await findCredentials(profile, await openBackend(profile), variable);
  } catch (error) {
    if (!(error instanceof CortexError)) throw error;
    return { kind: "refused", message: error.message, hint: error.hint };
  }
  return request === undefined ? undefined : pingProfile(profile, { variable, request });
}

/** Replaces the network with `--offline`: only `cortex up` looks for a model server. */
async function unreachable(): Promise<never> {
  throw new Error("Model servers are not contacted");
}

/** File tools can read an allowed folder, and the home contains the token and the keys. */
function checkRoots(home: string, { personas }: Config): Check[] {
  return Object.entries(personas).flatMap(([id, { permissions }]) =>
    permissions.roots
      .filter((root) => !relative(root, home).startsWith(".."))
      .map((root) =>
        warn(
          "agents",
          `personas.${id}.permissions.roots: ${root} contains the home, with its token and keys`,
          "Use narrower folders: agents with this persona can read all of it.",
        ),
      ),
  );
}

/** A variable that protects something must be set; one that is only passed on may be missing. */
function checkVariables(config: Config, variable: Configured["variable"]): Check[] {
  return [
    ...unsetVariables(config, variable).map((unset) => {
      const { problem, hint } = describeUnset(unset);
      return fail("variables", problem, hint);
    }),
    ...passedOn(config)
      .filter(([, name]) => !isSet(name, variable))
      .map(([setting, name]) =>
        warn(
          "variables",
          `${setting}: ${name} is not set, so programs do not get it`,
          "Set it in the environment or in config/.env, or remove it from the list.",
        ),
      ),
  ];
}

/** The variables passed to programs, with the setting that lists them. */
function passedOn({ hooks, toolHooks, subAgents }: Config): (readonly [setting: string, name: string])[] {
  const lists: readonly (readonly [setting: string, env: readonly string[]])[] = [
    ["hooks.env", hooks.env],
    ...toolHooks.map(({ env }, at) => [`toolHooks[${at}].env`, env] as const),
    ...Object.entries(subAgents.types).map(([name, { env = [] }]) => {
      return [`subAgents.types.${name}.env`, env] as const;
    }),
  ];
  return lists.flatMap(([setting, env]) => env.map((name, at) => [`${setting}[${at}]`, name] as const));
}

function checkFolders({ channels }: Config): Check[] {
  return Object.entries(channels.files)
    .filter(([, { folder }]) => !existsSync(folder))
    .map(([name, { folder }]) =>
      warn(
        "files",
        `channels.files.${name}: missing folder ${folder}`,
        "Create the folder, or configure another one.",
        {
          kind: "folder",
          path: folder,
        },
      ),
    );
}

/** Short secrets are not redacted. */
function checkCredentials({ personas }: Config, variable: Configured["variable"]): Check[] {
  const names = new Set(Object.values(personas).flatMap(({ permissions }) => permissions.credentials));
  return [...names]
    .filter((name) => isShort(variable(name)))
    .map((name) =>
      warn(
        "secrets",
        `${name} is shorter than ${MIN_SECRET_LENGTH} characters, so it is not redacted from the records`,
        "Use a longer secret.",
      ),
    );
}

function isShort(value: string | undefined): boolean {
  return value !== undefined && value !== "" && value.length < MIN_SECRET_LENGTH;
}

function checkSandbox(mode: SandboxMode): Check {
  const message = describeSandbox(mode).replace(/\.$/, "");
  if (mode.hint === undefined) return ok("sandbox", message);
  return (mode.effective === "refuses" ? fail : warn)("sandbox", message, mode.hint);
}

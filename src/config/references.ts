/** Checks across the parts of the configuration: names are valid, and names that are used exist. */
import { CortexError } from "../model/errors.ts";
import { DEFAULT_ACCOUNT, parseAgentId } from "../model/ids.ts";
import { ACTIVE_PROFILE, OFFLINE_PROFILE } from "../model/profile.ts";
import { type ChatAccount, chatAccounts } from "./channel-accounts.ts";
import type { CortexFile } from "./cortex-schema.ts";
import { suggest } from "../model/nearest.ts";
import { type Mistake, type Path, quote } from "./problem.ts";
import type { ProfilesFile } from "./profiles-schema.ts";

/** The known names, including those of invalid entries. */
export interface Names {
  readonly personas: readonly string[];
  readonly profiles: readonly string[];
}

export function checkCortex(file: CortexFile, names: Names): Mistake[] {
  const agents = Object.entries(file.agents).flatMap(([id, agent]) =>
    checkId(["agents", id]).concat(
      checkName(["agents", id, "persona"], agent.persona, "persona", names.personas),
      checkName(["agents", id, "profile"], agent.profile, "profile", [ACTIVE_PROFILE, ...names.profiles]),
    ),
  );
  const personas = Object.keys(file.personas).flatMap((id) => checkId(["personas", id]));
  const { profile } = file.hooks;
  const hooks = checkName(["hooks", "profile"], profile, "profile", [ACTIVE_PROFILE, ...names.profiles]);
  const { webhooks, files, paired } = file.channels;
  const subAgents = Object.entries(file.subAgents.types).flatMap(([name, { profile: own }]) =>
    checkType(["subAgents", "types", name]).concat(
      own === undefined
        ? []
        : checkName(["subAgents", "types", name, "profile"], own, "profile", [
            ACTIVE_PROFILE,
            ...names.profiles,
          ]),
    ),
  );
  return [
    ...agents,
    ...personas,
    ...hooks,
    ...subAgents,
    ...Object.entries(webhooks).flatMap(([name, { scheme }]) =>
      scheme === undefined ? [] : checkSource(["channels", "webhooks", name]),
    ),
    ...Object.keys(files).flatMap((name) => checkSource(["channels", "files", name])),
    ...pairedTwice(paired),
    ...chatAccounts(file).flatMap((each) => personaOf(each, names)),
  ];
}

function personaOf({ channel, account, settings: { persona } }: ChatAccount, { personas }: Names): Mistake[] {
  if (persona === undefined) return [];
  const path = account === DEFAULT_ACCOUNT ? [] : ["accounts", account];
  return checkName(["channels", channel, ...path, "persona"], persona, "persona", personas);
}

export function checkProfiles({ defaultProfile, profiles }: ProfilesFile, names: Names): Mistake[] {
  const missing =
    defaultProfile === undefined
      ? []
      : checkName(["defaultProfile"], defaultProfile, "profile", names.profiles);
  const each = Object.entries(profiles).flatMap(([name, profile]) =>
    checkProfileName(name).concat(
      checkBackend(name, profile),
      profile.fallback.flatMap((fallback, index) =>
        checkName(["profiles", name, "fallback", index], fallback, "profile", names.profiles),
      ),
    ),
  );
  return [...missing, ...each, ...circles(profiles)];
}

/** With two entries for one sender, the wrong one might grant more. */
function pairedTwice(paired: CortexFile["channels"]["paired"]): Mistake[] {
  const seen = new Set<string>();
  return paired.flatMap(({ channel, sender }, index) => {
    const who = JSON.stringify([channel, sender]);
    if (!seen.has(who)) {
      seen.add(who);
      return [];
    }
    const message = `duplicate sender ${quote(sender)} on channel ${quote(channel)}`;
    return [mistake(["channels", "paired", index], "value", message, "Remove one of them.")];
  });
}

const SOURCE_NAME = /^[a-z0-9][a-z0-9_.-]{0,63}$/;

/** The name is part of event ids and addresses. */
function checkSource(path: readonly string[]): Mistake[] {
  const name = path.at(-1) ?? "";
  if (SOURCE_NAME.test(name)) return [];
  const hint = "A name has 1 to 64 lowercase letters, digits, dots, - and _.";
  return [mistake(path, "key", `invalid name ${quote(name)}`, hint)];
}

const TYPE_NAME = /^[a-z0-9][a-z0-9_-]{0,47}$/;

/** The name is part of channel names. */
function checkType(path: readonly string[]): Mistake[] {
  const name = path.at(-1) ?? "";
  if (TYPE_NAME.test(name)) return [];
  const hint = "A name has 1 to 48 lowercase letters, digits, - and _, and starts with a letter or digit.";
  return [mistake(path, "key", `invalid sub-agent type name ${quote(name)}`, hint)];
}

const PROFILE_NAME = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,63}$/;

function checkName(
  path: Path,
  name: string,
  kind: "persona" | "profile",
  known: readonly string[],
): Mistake[] {
  if (known.includes(name)) return [];
  return [mistake(path, "value", `unknown ${kind} ${quote(name)}`, suggest(name, known))];
}

/** Ids are compared byte for byte: two spellings of one id would be two agents. */
function checkId(path: readonly string[]): Mistake[] {
  const id = path.at(-1) ?? "";
  try {
    const parsed = parseAgentId(id);
    if (parsed === id) return [];
    return [mistake(path, "key", `${quote(id)} contains uppercase letters`, `Write ${quote(parsed)}.`)];
  } catch (error) {
    if (!(error instanceof CortexError)) throw error;
    const kind = path[0] === "agents" ? "agent" : "persona";
    const hint = "An id has 1 to 64 lowercase letters, digits, - and _, and starts with a letter or digit.";
    return [mistake(path, "key", `invalid ${kind} id ${quote(id)}`, hint)];
  }
}

function checkProfileName(name: string): Mistake[] {
  if (PROFILE_NAME.test(name) && name !== ACTIVE_PROFILE) return [];
  const hint = `A name has 1 to 64 letters, digits, dots, - and _; "${ACTIVE_PROFILE}" is reserved.`;
  return [mistake(["profiles", name], "key", `invalid profile name ${quote(name)}`, hint)];
}

function checkBackend(
  name: string,
  { backend, provider, baseUrl }: ProfilesFile["profiles"][string],
): Mistake[] {
  if (name === OFFLINE_PROFILE.name && backend !== "offline") {
    const hint = `Add "backend": "offline", or rename the profile.`;
    return [
      mistake(
        ["profiles", name],
        "value",
        `the name "offline" is reserved for the profile without a model`,
        hint,
      ),
    ];
  }
  if (provider?.endsWith("-compatible") && baseUrl === undefined) {
    const hint = `${quote(provider)} needs the server's URL, such as http://127.0.0.1:11434/v1.`;
    return [mistake(["profiles", name, "baseUrl"], "value", "missing", hint)];
  }
  return [];
}

/** Every fallback that leads back to a profile on its own path. */
function circles(profiles: ProfilesFile["profiles"]): Mistake[] {
  const found: Mistake[] = [];
  const finished = new Set<string>();
  const follow = (name: string, way: readonly string[]): void => {
    const profile = Object.hasOwn(profiles, name) ? profiles[name] : undefined;
    if (finished.has(name) || profile === undefined) return;
    for (const [index, fallback] of profile.fallback.entries()) {
      const start = [...way, name].indexOf(fallback);
      if (start === -1) follow(fallback, [...way, name]);
      else {
        const circle = [...way, name].slice(start).concat(fallback).join(" → ");
        const path = ["profiles", name, "fallback", index];
        found.push(
          mistake(path, "value", `circular fallback: ${circle}`, "Remove the last profile's fallback."),
        );
      }
    }
    finished.add(name);
  };
  for (const name of Object.keys(profiles)) follow(name, []);
  return found;
}

function mistake(path: Path, at: Mistake["at"], message: string, hint: string): Mistake {
  return { path, at, message, hint };
}

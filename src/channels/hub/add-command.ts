/** `cortex channels add` and `login`: from the platform's own steps to a channel that is live. */
import { accountName } from "../../model/account-name.ts";
import { DEFAULT_ACCOUNT } from "../../model/ids.ts";
import { CortexError } from "../../model/errors.ts";
import { chatAccounts, pathOfAccount } from "../../config/channel-accounts.ts";
import { entryAt } from "../../config/edit-entry.ts";
import { type LoadedConfig, loadConfig, readTexts } from "../../config/read.ts";
import { type Invocation, text } from "../../feature/command.ts";
import { openPrompts, type Prompts } from "../../terminal/prompts.ts";
import type { ChannelModule, Finding } from "../channel.ts";
import { askValues } from "./ask-values.ts";
import {
  type AskedValue,
  askedValues,
  changeFor,
  type ConfiguredAccount,
  type NewValues,
} from "./asked-values.ts";
import { channelPortsOf } from "./channel-ports.ts";
import { describeFindings } from "./describe.ts";
import { givenValues, readInput } from "./given-values.ts";
import { describeCommand, installCommand, installPackages, missingPackages } from "./install-packages.ts";
import { channelUnknown, loadModule } from "./modules.ts";
import { hasFailed, probeAccount } from "./probe.ts";
import { saveAccount } from "./save-account.ts";
import { findingView } from "./views.ts";
import { type Connected, waitUntilLive } from "./wait-until-live.ts";

/** False: the person has stopped, or it is not live. */
export function addChannel(given: Invocation): Promise<void | false> {
  return setUp(given, { onlySecrets: false });
}

/** Replaces the secrets of an account that is configured. */
export function loginChannel(given: Invocation): Promise<void | false> {
  return setUp(given, { onlySecrets: true });
}

interface Setup {
  readonly given: Invocation;
  readonly module: ChannelModule;
  readonly configured: ConfiguredAccount;
  readonly loaded: LoadedConfig;
  readonly asked: readonly AskedValue[];
  readonly onlySecrets: boolean;
}

async function setUp(given: Invocation, { onlySecrets }: Pick<Setup, "onlySecrets">): Promise<void | false> {
  const { args, channelModules } = given;
  const [channel = ""] = args;
  const module = await loadModule(channel, channelModules);
  const account = accountOf(given);
  const { configured, loaded } = await readAccount(given, channel, account);
  if (onlySecrets) requireConfigured(configured, loaded);
  const asked = askedValues(module, configured).filter(
    ({ variable }) => !onlySecrets || variable !== undefined,
  );
  const setup: Setup = { given, module, configured, loaded, asked, onlySecrets };
  const isAsking = process.stdin.isTTY && process.stdout.isTTY && !given.print.json;
  if (!isAsking) return setUpFromInput(setup);
  using prompts = openPrompts();
  const outcome = await setUpWith(prompts, setup);
  if (outcome === undefined) prompts.say("\nNothing was written.");
  return outcome === true ? undefined : false;
}

function accountOf(given: Invocation): string {
  const account = text(given, "account") ?? DEFAULT_ACCOUNT;
  if (/^[^:@/\s]{1,64}$/.test(account)) return account;
  throw new CortexError("usage", `Invalid account ${JSON.stringify(account)}`, {
    hint: "Use a name of at most 64 characters, without spaces, `:`, `@` and `/`.",
  });
}

function requireConfigured({ channel, account }: ConfiguredAccount, { config }: LoadedConfig): void {
  const all = chatAccounts(config);
  if (all.some((each) => each.channel === channel && each.account === account)) return;
  const known = [...new Set(all.map((each) => each.channel))];
  throw channelUnknown(channel, known, account === DEFAULT_ACCOUNT ? undefined : account);
}

async function readAccount(
  { home, environment }: Invocation,
  channel: string,
  account: string,
): Promise<{ configured: ConfiguredAccount; loaded: LoadedConfig }> {
  const texts = await readTexts(home);
  const loaded = loadConfig({ home, environment }, texts);
  const file = texts.cortex !== undefined && "text" in texts.cortex ? texts.cortex.text : "";
  const entry = entryAt(file, pathOfAccount({ channel, account })) as ConfiguredAccount["entry"];
  return {
    configured: { channel, account, entry, environment, fileVariables: loaded.fileVariables() },
    loaded,
  };
}

/** Undefined: nothing was written. False: it was, and the channel is not live. */
async function setUpWith(prompts: Prompts, setup: Setup): Promise<boolean | undefined> {
  const { given, module, configured, asked, onlySecrets } = setup;
  if (!(await offerPackages(prompts, setup))) return undefined;
  const probe = (values: NewValues): Promise<readonly Finding[]> => probeWith(values, setup);
  const answered = await askValues({ module, asked, prompts, onlySecrets, probe });
  if (answered === undefined) return undefined;
  await save(answered.values, setup);
  prompts.say(`\nSaved ${accountName(module.name, configured.account)}.`);
  for (const line of hiddenByEnvironment(answered.values, setup)) prompts.say(line);
  const connected = await waitUntilLive(given.home, configured, prompts.closed);
  prompts.say(given.print.advice(describeOutcome(connected, setup)));
  return connected.kind === "live" || connected.kind === "no-server";
}

async function offerPackages(prompts: Prompts, { given, module }: Setup): Promise<boolean> {
  const missing = missingPackages(module.packages);
  if (missing.length === 0) return true;
  const command = describeCommand(installCommand(missing));
  prompts.say(
    `The channel ${module.name} needs ${missing.join(", ")}, which npm installs with:\n  ${command}`,
  );
  const answer = await prompts.ask("Enter installs it now, n stops: ");
  if (answer === undefined || /^n/i.test(answer)) return false;
  prompts.say("Installing …");
  try {
    await installPackages(missing, given.environment, prompts.closed);
  } catch (error) {
    if (!prompts.closed.aborted) throw error;
  }
  return !prompts.closed.aborted;
}

async function setUpFromInput(setup: Setup): Promise<void | false> {
  const { given, module, configured, asked, onlySecrets } = setup;
  const { print, options } = given;
  const isForced = options["yes"] === true;
  const missing = missingPackages(module.packages);
  if (missing.length > 0) throw packagesMissing(missing);
  const values = givenValues(await readInput(), { channel: module.name, asked, mayKeep: !onlySecrets });
  if (!onlySecrets && !isForced) refuseReplacing(values, setup);
  const findings = await probeWith(values, setup);
  if (hasFailed(findings) && !isForced) {
    print.data(
      { ...nameOf(configured), saved: false, findings: findings.map(findingView), state: null },
      () => describeFindings(findings),
    );
    print.note("Nothing was written. With --yes, it is saved anyway.");
    return false;
  }
  await save(values, setup);
  for (const line of hiddenByEnvironment(values, setup)) print.note(line);
  const connected = await waitUntilLive(given.home, configured, new AbortController().signal);
  const state = connected.kind === "no-server" ? null : connected.state;
  print.data({ ...nameOf(configured), saved: true, findings: findings.map(findingView), state }, () =>
    [describeFindings(findings), print.advice(describeOutcome(connected, setup))].join("\n"),
  );
  if (connected.kind === "down") return false;
}

function nameOf({ channel: name, account }: ConfiguredAccount) {
  return { name, account };
}

function probeWith(values: NewValues, setup: Setup): Promise<readonly Finding[]> {
  const { module, configured, loaded, given } = setup;
  const { settings, variable } = changeFor(module, { ...setup, values });
  const ports = channelPortsOf(configured, {
    home: given.home,
    variable,
    publicUrl: loaded.config.server.publicUrl,
    clock: Date.now,
    log: () => {},
  });
  return probeAccount(module, settings, ports);
}

async function save(values: NewValues, setup: Setup): Promise<void> {
  const { home, environment } = setup.given;
  await saveAccount({ home, environment }, changeFor(setup.module, { ...setup, values }));
}

function refuseReplacing(values: NewValues, setup: Setup): void {
  const { variables, entries } = changeFor(setup.module, { ...setup, values });
  const replaced = [
    ...variables.map(({ name, before }) => ({ name, before })),
    ...entries.map(({ path, before }) => ({ name: path.join("."), before })),
  ].filter(({ before }) => before !== undefined && before !== "");
  if (replaced.length === 0) return;
  const names = replaced.map(({ name }) => name).join(", ");
  throw new CortexError("state_conflict", `${names} already has another value`, {
    hint: `Add --yes to replace it, or run \`cortex channels login ${setup.module.name}\`.`,
  });
}

/** The environment wins over the file, so what was saved there has no effect. */
function hiddenByEnvironment(values: NewValues, { asked, given }: Setup): string[] {
  return asked.flatMap(({ setting, variable }) =>
    variable !== undefined && values.has(setting) && given.environment[variable] !== undefined
      ? [`${variable} is also set in the environment, which wins over config/.env. Unset it there.`]
      : [],
  );
}

function describeOutcome(connected: Connected, { module, configured, onlySecrets }: Setup): string {
  const name = accountName(module.name, configured.account);
  const next = onlySecrets
    ? []
    : [
        "Write it a direct message. It answers with a code; to let yourself in, run:",
        "  cortex channels pair <code> --as owner",
      ];
  switch (connected.kind) {
    case "live":
      return [`${name} is live.`, ...next].join("\n");
    case "no-server":
      return [`${name} connects when Cortex runs; start it with \`cortex up\`.`, ...next].join("\n");
    case "down":
      return [
        `${name} is not live yet (${connected.state})${connected.error === null ? "." : `: ${connected.error}`}`,
        `\`cortex channels status ${module.name}\` shows more.`,
      ].join("\n");
  }
}

function packagesMissing(missing: readonly string[]): CortexError {
  return new CortexError("package_missing", `Missing packages: ${missing.join(", ")}`, {
    hint: `Run \`${describeCommand(installCommand(missing))}\`.`,
  });
}

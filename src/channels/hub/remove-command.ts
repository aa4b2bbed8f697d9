/** `cortex channels remove`: takes an account out of the configuration. The ledger keeps what was said. */
import { chatAccounts } from "../../config/channel-accounts.ts";
import { changeEntries, type EntryChange } from "../../config/change-entries.ts";
import { entryAt } from "../../config/edit-entry.ts";
import { changeVariables } from "../../config/env-file.ts";
import { readConfig, readTexts } from "../../config/read.ts";
import { variablesOf } from "../../config/unset-variables.ts";
import { type Invocation, text } from "../../feature/command.ts";
import { accountName } from "../../model/account-name.ts";
import { CortexError } from "../../model/errors.ts";
import { DEFAULT_ACCOUNT } from "../../model/ids.ts";
import { openPrompts } from "../../terminal/prompts.ts";
import { channelUnknown } from "./modules.ts";

/** False: the person said no. */
export async function removeChannel(given: Invocation): Promise<void | false> {
  const { home, environment, args, print, options } = given;
  const [channel = ""] = args;
  const account = text(given, "account");
  const sources = { home, environment };
  const before = await readConfig(sources);
  const accounts = chatAccounts(before.config);
  const meant = accounts.filter(
    (each) => each.channel === channel && (account === undefined || each.account === account),
  );
  if (meant.length === 0) {
    const known = [...new Set(accounts.map((each) => each.channel))];
    throw channelUnknown(channel, known, account);
  }
  const name = accountName(channel, account);
  if (options["yes"] !== true && !(await confirm(`Remove ${name} from cortex.json? [y/N] `, given))) {
    print.note("Nothing was removed.");
    return false;
  }
  const texts = await readTexts(home);
  const file = texts.cortex !== undefined && "text" in texts.cortex ? texts.cortex.text : "";
  const after = await changeEntries(sources, removalOf(file, channel, account));
  const used = new Set(
    chatAccounts(after.config)
      .flatMap(variablesOf)
      .map(({ variable }) => variable),
  );
  const inFile = before.fileVariables();
  const left = [...new Set(meant.flatMap(variablesOf).map(({ variable }) => variable))].filter(
    (variable) => !used.has(variable) && inFile.has(variable),
  );
  const removesSecrets = options["secrets"] === true;
  if (removesSecrets)
    await changeVariables(
      home,
      left.map((each) => ({ name: each, before: inFile.get(each), after: undefined })),
    );
  const secrets = { removed: removesSecrets ? left : [], left: removesSecrets ? [] : left };
  print.data({ name: channel, account: account ?? null, secrets }, () =>
    [`Removed ${name}. The ledger keeps what was said there.`, ...describeSecrets(secrets)].join("\n"),
  );
}

function removalOf(file: string, channel: string, account: string | undefined): EntryChange[] {
  const removal = (...path: readonly string[]): EntryChange => {
    const full: EntryChange["path"] = ["channels", channel, ...path];
    return { path: full, before: entryAt(file, full), after: undefined };
  };
  const entry = (entryAt(file, ["channels", channel]) ?? {}) as Readonly<Record<string, unknown>>;
  const { accounts = {}, ...own } = entry;
  const others = Object.keys(accounts as object).filter((each) => each !== account);
  if (account === undefined) return [removal()];
  if (account === DEFAULT_ACCOUNT)
    return others.length === 0 ? [removal()] : Object.keys(own).map((setting) => removal(setting));
  if (others.length > 0) return [removal("accounts", account)];
  // Settings that only the other accounts needed would make an account of their own.
  const isGroup = !Object.keys(own).some((field) => field.endsWith("Env"));
  return [isGroup ? removal() : removal("accounts")];
}

async function confirm(question: string, { print }: Invocation): Promise<boolean> {
  if (!process.stdin.isTTY || !process.stdout.isTTY || print.json)
    throw new CortexError("usage", "Nobody can be asked here", {
      hint: "Add --yes to remove it without a question.",
    });
  using prompts = openPrompts();
  return /^y(es)?$/i.test((await prompts.ask(question)) ?? "");
}

function describeSecrets({
  removed,
  left,
}: {
  readonly removed: readonly string[];
  readonly left: readonly string[];
}) {
  if (removed.length > 0) return [`Removed from config/.env: ${removed.join(", ")}.`];
  if (left.length === 0) return [];
  return [
    `Still in config/.env: ${left.join(", ")}. Remove unused secrets there, or use --secrets next time.`,
  ];
}

/** What `cortex doctor` says about chat channels. That a variable is not set, it says without this. */
import { ask } from "../../client/ask.ts";
import { findServer, type RunningServer } from "../../client/server.ts";
import { chatAccounts } from "../../config/channel-accounts.ts";
import { readConfigured } from "../../config/configured.ts";
import { type Check, fail, failure, ok, warn } from "../../feature/check.ts";
import type { CheckedHome } from "../../feature/feature.ts";
import { accountName } from "../../model/account-name.ts";
import { CortexError } from "../../model/errors.ts";
import { reveal } from "../../model/reveal.ts";
import { moment } from "../../terminal/text.ts";
import type { ChannelView, FindingsView } from "./views.ts";

const NAME = "channels";
const NEEDS_A_PERSON: ReadonlySet<string> = new Set(["refused", "conflict"]);

export async function checkChannels(checked: CheckedHome): Promise<readonly Check[]> {
  return [...(await checkSettings(checked)), ...(await checkConnections(checked))];
}

/** What the settings ask for that this version does not do. */
async function checkSettings(checked: CheckedHome): Promise<Check[]> {
  const { config } = await readConfigured(checked);
  const smart = chatAccounts(config).filter(({ settings: { routing } }) => routing === "smart");
  return smart.map(({ channel: name, account }) =>
    warn(
      NAME,
      `${accountName(name, account)}: \`routing: "smart"\` has no effect yet; messages go to the session of their place`,
      'Use "default".',
    ),
  );
}

/** Only a running server knows. */
async function checkConnections({ home, request }: CheckedHome): Promise<Check[]> {
  const server = await findServer(home);
  if (server === undefined) return [];
  try {
    const { body } = await ask<{ readonly items: readonly ChannelView[] }>(server, { path: "/api/channels" });
    // What is refused says why already.
    const asked = request === undefined ? [] : body.items.filter(({ state }) => !NEEDS_A_PERSON.has(state));
    const found = await Promise.all(asked.map((view) => findingsOf(view, server)));
    return [...body.items.map(stateOf), ...found.flat()];
  } catch (error) {
    // It ended meanwhile, or is of a version without channels.
    if (error instanceof CortexError) return [];
    throw error;
  }
}

function stateOf(view: ChannelView): Check {
  const { state, since, error } = view;
  const name = accountName(view.name, view.account);
  if (state === "live" || state === "connecting") return ok(NAME, `${name} is ${state}`);
  const message = `${name} is ${state} since ${moment(since)}${error === null ? "" : `: ${reveal(error)}`}`;
  const hint = `\`cortex channels status ${view.name}\` shows more; \`cortex channels login ${view.name}\` replaces its secrets.`;
  return NEEDS_A_PERSON.has(state) ? fail(NAME, message, hint) : warn(NAME, message, hint);
}

async function findingsOf({ name, account }: ChannelView, server: RunningServer): Promise<Check[]> {
  const path = `/api/channels/${encodeURIComponent(name)}/test?account=${encodeURIComponent(account)}`;
  try {
    const { body } = await ask<{ readonly items: readonly FindingsView[] }>(server, { method: "POST", path });
    return body.items.flatMap(({ findings }) =>
      findings
        .filter(({ state }) => state !== "ok")
        .map(({ name: what, state, message, hint }) =>
          (state === "fail" ? fail : warn)(
            NAME,
            `${accountName(name, account)}: ${what}: ${reveal(message)}`,
            hint ?? `Run \`cortex channels test ${name}\` again later.`,
          ),
        ),
    );
  } catch (error) {
    return [failure(NAME, error)];
  }
}

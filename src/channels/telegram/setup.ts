/** What has to be done at Telegram, and whether it was. */
import { errorText } from "../../model/errors.ts";
import { MINUTE_MS } from "../../model/durations.ts";
import type { ChannelPorts, Finding, SetupStep } from "../channel.ts";
import type { TelegramApi } from "./api.ts";
import type { Me } from "./updates.ts";
import { readWebhook, webhookUrlMissing } from "./webhook.ts";

/** The usual name of the variable with the token. */
export const TOKEN_VARIABLE = "TELEGRAM_BOT_TOKEN";

export const setup: readonly SetupStep[] = [
  {
    title: "Create a bot with @BotFather",
    text: "Send /newbot to @BotFather in Telegram and choose a name. It answers with a token. For an existing bot: /mybots, then API Token.",
    url: "https://t.me/BotFather",
    asks: {
      setting: "tokenEnv",
      secret: true,
      example: "123456789:AAExampleOfAToken",
      variable: TOKEN_VARIABLE,
    },
  },
  {
    title: "Decide what the bot sees in groups",
    text: "With privacy mode, which is on by default, it only sees commands, mentions and replies. To answer all messages (`groups: all`), send /setprivacy to @BotFather and choose Disable, then add the bot to the group again.",
  },
];

interface Probed {
  readonly api: TelegramApi;
  readonly settings: { readonly mode: "poll" | "webhook"; readonly groups: "mention" | "all" | "off" };
  readonly ports: Pick<ChannelPorts, "webhookUrl">;
}

export async function probe({ api, settings: { mode, groups }, ports }: Probed): Promise<readonly Finding[]> {
  const signal = AbortSignal.timeout(MINUTE_MS);
  const me = await api.call<Me>("getMe", {}, { signal });
  const webhook = await readWebhook(api, signal);
  const found: Finding[] = [
    { name: "token", state: "ok", message: `It is @${me.username}.` },
    privacyOf(me, groups),
  ];
  const url = ports.webhookUrl;
  if (mode === "webhook" && url === undefined) {
    const { message, hint } = webhookUrlMissing();
    return [...found, { name: "webhook", state: "fail", message, hint }];
  }
  if (mode === "webhook" && webhook.lastError !== undefined)
    found.push({
      name: "webhook",
      state: "warn",
      message: `Telegram's last attempt to reach ${webhook.url} failed: ${webhook.lastError.message}. ${webhook.pending} updates wait.`,
      hint: "Check that the address is reachable from the internet over HTTPS, and that it leads to Cortex.",
    });
  if (webhook.url !== "" && (mode === "poll" || webhook.url !== url)) found.push(foreignWebhook(webhook.url));
  return found;
}

function privacyOf(me: Me, groups: Probed["settings"]["groups"]): Finding {
  const name = "privacy mode";
  if (me.can_read_all_group_messages === true)
    return { name, state: "ok", message: "Off: the bot sees all messages of its groups." };
  const message = "On: in groups, the bot only sees commands, mentions and replies.";
  if (groups !== "all") return { name, state: "ok", message };
  return {
    name,
    state: "warn",
    message,
    hint: "`groups: all` needs it off: @BotFather → /setprivacy → Disable, then add the bot to the group again.",
  };
}

function foreignWebhook(url: string): Finding {
  return {
    name: "webhook",
    state: "warn",
    message: `It is set to ${hostOf(url)}.`,
    hint: "Cortex replaces it when it connects. If another program uses this bot, create one of its own for Cortex.",
  };
}

function hostOf(url: string): string {
  try {
    return new URL(url).host;
  } catch (error) {
    return errorText(error);
  }
}

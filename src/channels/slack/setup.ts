/** What has to be done at Slack, and whether it was. */
import { MINUTE_MS } from "../../model/durations.ts";
import { CortexError } from "../../model/errors.ts";
import type { ChannelModule, Finding } from "../channel.ts";
import type { SlackApi } from "./api.ts";

const PLACES = ["channels", "groups", "im", "mpim"] as const;

const SCOPES = [
  "app_mentions:read",
  ...PLACES.flatMap((place) => [`${place}:history`, `${place}:read`]),
  "chat:write",
  "commands",
  "files:read",
  "files:write",
  "im:write",
  "reactions:read",
  "reactions:write",
  "users:read",
];

/** https://docs.slack.dev/reference/app-manifest */
export const MANIFEST = {
  display_information: { name: "Cortex" },
  features: {
    app_home: { home_tab_enabled: false, messages_tab_enabled: true, messages_tab_read_only_enabled: false },
    bot_user: { display_name: "Cortex", always_online: true },
    slash_commands: [
      { command: "/cortex", description: "Commands of Cortex", usage_hint: "status", should_escape: true },
    ],
  },
  oauth_config: { scopes: { bot: SCOPES } },
  settings: {
    event_subscriptions: {
      bot_events: [
        "app_mention",
        ...PLACES.map((place) => `message.${place}`),
        "reaction_added",
        "reaction_removed",
      ],
    },
    interactivity: { is_enabled: true },
    socket_mode_enabled: true,
  },
};

export const SETUP: ChannelModule["setup"] = [
  {
    title: "Create the app",
    text: "Open the link, choose your workspace, and create the app with the manifest that is filled in.",
    url: `https://api.slack.com/apps?new_app=1&manifest_json=${encodeURIComponent(JSON.stringify(MANIFEST))}`,
  },
  {
    title: "Create the app token",
    text: "Basic Information → App-Level Tokens → Generate, with the scope connections:write.",
    url: "https://api.slack.com/apps",
    asks: { setting: "appTokenEnv", secret: true, example: "xapp-1-A012-345-abc" },
  },
  {
    title: "Install the app",
    text: "Install App → Install to Workspace, then copy the Bot User OAuth Token.",
    asks: { setting: "botTokenEnv", secret: true, example: "xoxb-012-345-abc" },
  },
  {
    title: "Invite it",
    text: "Write to the app in its direct messages, or invite it into a channel: /invite @Cortex.",
  },
];

export async function probe({
  bot,
  app,
}: {
  readonly bot: SlackApi;
  readonly app: SlackApi | undefined;
}): Promise<readonly Finding[]> {
  const signal = AbortSignal.timeout(MINUTE_MS);
  const findings = [
    await find("bot token", async () => {
      const { user, team, scopes } = await bot.call<{ user: string; team: string }>(
        "auth.test",
        {},
        { signal },
      );
      const missing = SCOPES.filter((scope) => !scopes.split(/[,\s]+/).includes(scope));
      if (missing.length === 0) return { state: "ok", message: `It is @${user} in ${team}.` };
      return {
        state: "warn",
        message: `It is @${user} in ${team}, without the scopes ${missing.join(", ")}.`,
        hint: "Add them under OAuth & Permissions, then install the app again.",
      };
    }),
  ];
  if (app !== undefined)
    findings.push(
      await find("Socket Mode", async () => {
        await app.call("apps.connections.open", {}, { signal });
        return { state: "ok", message: "It is on, and the app token is valid." };
      }),
    );
  return findings;
}

async function find(name: string, ask: () => Promise<Omit<Finding, "name">>): Promise<Finding> {
  try {
    return { name, ...(await ask()) };
  } catch (error) {
    if (!(error instanceof CortexError)) throw error;
    return { name, state: "fail", message: error.message, hint: error.hint };
  }
}

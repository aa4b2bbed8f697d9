import { expect, test } from "vitest";

import { teamHome } from "../../../test/support/team-home.ts";
import { checkTeam } from "./check.ts";

const environment = { PATH: process.env["PATH"], CORTEX_TELEGRAM_CHAT_ID: "-100" };

test("a chat for reports without a Telegram channel is a warning", async () => {
  using home = teamHome({ "chief-of-staff": {} });
  const checks = await checkTeam({ home: home.path, environment, toolNames: [] });
  expect(checks).toContainEqual(
    expect.objectContaining({
      state: "warn",
      message: expect.stringContaining("no Telegram channel is enabled"),
    }),
  );
});

test("with one, there is nothing to warn about", async () => {
  using home = teamHome(
    { "chief-of-staff": {} },
    { cortex: { channels: { telegram: { tokenEnv: "BOT" } } } },
  );
  const checks = await checkTeam({ home: home.path, environment, toolNames: [] });
  expect(checks.map(({ message }) => message).join("\n")).not.toContain("telegram_chat_id");
});

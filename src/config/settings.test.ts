import { expect, test } from "vitest";

import { configHome } from "../../test/support/config-home.ts";
import { openSettings } from "./settings.ts";

function open(home: string, environment: Record<string, string> = {}) {
  return openSettings({ home, environment, flags: {}, log: () => {}, onChange: () => {} });
}

test("a model that was found is the active one, and can be asked for by its name", async () => {
  using home = configHome();
  await using settings = await open(home.path, { OPENAI_API_KEY: "key" });
  expect(settings.model().why).toBe("OPENAI_API_KEY is set");
  const active = settings.profile("__active__");
  expect(active).toMatchObject({ name: "openai", provider: "openai" });
  // A turn that goes on after a crash asks for the profile that it was started with.
  expect(settings.profile("openai")).toEqual(active);
});

test("a profile of that name in the config is the one that is meant", async () => {
  const profiles = { openai: { backend: "offline" }, mine: { backend: "offline" } };
  using home = configHome({ "profiles.json": { profiles } });
  await using settings = await open(home.path, { OPENAI_API_KEY: "key" });
  expect(settings.profile("openai").backend).toBe("offline");
  expect(settings.profile("mine").name).toBe("mine");
});

test("what is configured is active, whatever could be found", async () => {
  using home = configHome({
    "profiles.json": { defaultProfile: "mine", profiles: { mine: { backend: "offline" } } },
  });
  await using settings = await open(home.path, { OPENAI_API_KEY: "key" });
  expect(settings.model()).toMatchObject({ profile: { name: "mine" }, why: "it is configured" });
});

test("a profile that does not exist is refused, and variables are read from the environment", async () => {
  using home = configHome({ ".env": "FROM_FILE=x\n" });
  await using settings = await open(home.path, { ANTHROPIC_API_KEY: "key" });
  expect(() => settings.profile("nothing")).toThrow(expect.objectContaining({ code: "profile_unknown" }));
  expect(settings.variable("ANTHROPIC_API_KEY")).toBe("key");
  expect(settings.variable("FROM_FILE")).toBe("x");
  expect(settings.variable("OTHER")).toBeUndefined();
});

import { expect, test } from "vitest";
import { loadFiles, problemsIn } from "../../test/support/config-home.ts";

test.each([
  [{ a: ["a"] }, ["profiles.a.fallback[0]: goes in a circle: a → a"]],
  [{ a: ["b"], b: ["c"], c: ["offline", "a"] }, ["profiles.c.fallback[1]: goes in a circle: a → b → c → a"]],
  [{ x: ["a"], a: ["b"], b: ["a"] }, ["profiles.b.fallback[0]: goes in a circle: a → b → a"]],
  [{ a: ["b"], b: ["a"], c: ["d"], d: ["c"] }, ["a → b → a", "c → d → c"]],
])("of the fallbacks %j, each circle is named once", async (fallbacks, expected) => {
  const profiles = Object.fromEntries(
    Object.entries(fallbacks).map(([name, fallback]) => [name, { fallback }]),
  );
  const problems = await problemsIn({ "profiles.json": { profiles } });
  expect(problems).toHaveLength(expected.length);
  for (const [index, text] of expected.entries()) expect(problems[index]).toContain(text);
});

test("two ways to the same fallback are no circle", async () => {
  const profiles = { a: { fallback: ["b", "c"] }, b: { fallback: ["d"] }, c: { fallback: ["d"] }, d: {} };
  await expect(loadFiles({ "profiles.json": { profiles } })).resolves.toBeDefined();
});

test.each([
  [{ agents: { main: { profile: "nope" } } }, 'agents.main.profile: no profile is called "nope"'],
  [{ hooks: { profile: "nope" } }, 'hooks.profile: no profile is called "nope"'],
  [{ agents: { "a b": {} } }, 'agents["a b"]: "a b" is not the id of an agent'],
  [{ personas: { Nova: {} } }, 'personas.Nova: "Nova" has capital letters'],
  [{ personas: { "": {} } }, 'personas[""]: "" is not the id of a persona'],
  [{ identityLinks: { ann: ["ann"] } }, 'identityLinks.ann[0]: "ann" is not of the form channel:peer'],
  [{ agents: { main: { queueMode: "x" } } }, 'agents.main.queueMode: "x" is not a queue mode'],
  [{ agents: { main: { tools: [5] } } }, "agents.main.tools[0]: 5 is not a text. The tools it has"],
  [{ server: { port: 1.5 } }, "server.port: 1.5 is not a whole number"],
  [{ agents: { main: { persona: "" } } }, "agents.main.persona: is empty"],
])("%j in cortex.json is a problem", async (cortex, expected) => {
  const problems = await problemsIn({ "cortex.json": cortex });
  expect(problems).toHaveLength(1);
  expect(problems[0]).toContain(expected);
});

test.each([
  [{ defaultProfile: "__active__" }, 'defaultProfile: no profile is called "__active__"'],
  [{ profiles: { __active__: {} } }, '"__active__" is not the name of a profile'],
  [{ profiles: { "a b": {} } }, '"a b" is not the name of a profile'],
  [{ profiles: { offline: { backend: "pi" } } }, '"offline" names the profile without a model'],
  [{ profiles: { a: { fallback: ["__active__"] } } }, 'no profile is called "__active__"'],
  [{ profiles: { a: { provider: "openai-compatible" } } }, "profiles.a.baseUrl: is missing"],
  [{ profiles: { a: { baseUrl: "localhost:1234" } } }, '"localhost:1234" is not an http or https address'],
  [{ profiles: { a: { price: { input: 1 } } } }, "profiles.a.price.output: is missing"],
])("%j in profiles.json is a problem", async (profiles, expected) => {
  const problems = await problemsIn({ "profiles.json": profiles });
  expect(problems).toHaveLength(1);
  expect(problems[0]).toContain(expected);
});

test("the spelling of queue modes that others use is understood", async () => {
  const { config } = await loadFiles({ "cortex.json": { broker: { queue: { mode: "steer+backlog" } } } });
  expect(config.broker.queue.mode).toBe("steer-backlog");
});

test("the offline profile can be given a script", async () => {
  const { config } = await loadFiles({
    "profiles.json": { profiles: { offline: { backend: "offline", script: "/demo.yaml" } } },
  });
  expect(config.profiles["offline"]).toMatchObject({ backend: "offline", script: "/demo.yaml" });
});

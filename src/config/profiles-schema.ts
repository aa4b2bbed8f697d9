/** What `config/profiles.json` may hold. */
import { z } from "zod";
import { named } from "./cortex-schema.ts";
import { planned } from "./planned.ts";
import { quote } from "./problem.ts";

const text = (description: string) => z.string().min(1).describe(description);
const usd = (description: string) => z.number().min(0).describe(description);
const variables = z.record(z.string(), z.string());

const price = z
  .strictObject({
    input: usd("For tokens in."),
    output: usd("For tokens out."),
    cacheRead: usd("For tokens read from a cache.").exactOptional(),
    cacheWrite: usd("For tokens written to a cache.").exactOptional(),
  })
  .describe("USD per million tokens, for a model that the catalogue does not know.");

const profile = z
  .strictObject({
    backend: z
      .enum(["pi", "offline"])
      .describe("What runs the turn: pi asks a provider's model, offline needs none.")
      .register(planned, { names: ["claude", "codex", "acp"] })
      .default("pi"),
    provider: text(
      "anthropic, openai, google, openai-compatible, anthropic-compatible, or another that the backend knows.",
    ).exactOptional(),
    model: text("The model, as its provider calls it.").exactOptional(),
    baseUrl: z
      .url({ protocol: /^https?$/, error: ({ input }) => `${quote(input)} is not an http or https address` })
      .describe("The address of the model server, such as http://127.0.0.1:11434/v1.")
      .exactOptional(),
    // A key that was pasted here must not end up in a log: the message has no value in it.
    apiKeyEnv: z
      .string()
      .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, { error: "is not the name of an environment variable" })
      .describe("The name of the environment variable that holds the key, never the key itself.")
      .exactOptional(),
    thinking: z
      .enum(["off", "minimal", "low", "medium", "high", "xhigh"])
      .describe("How long the model thinks before it answers.")
      .exactOptional(),
    price: price.exactOptional(),
    contextWindow: z
      .int()
      .min(1)
      .describe("The model's window in tokens, where it is not known.")
      .exactOptional(),
    maxTokens: z.int().min(1).describe("The most that one answer may have, in tokens.").exactOptional(),
    extraEnv: variables
      .describe("Environment variables for its provider, before those of the process.")
      .exactOptional(),
    extraOption: variables.describe("Further parameters of each request, such as top_p.").exactOptional(),
    script: text(
      "Offline: the script it plays, from the config folder where it is relative.",
    ).exactOptional(),
    fallback: z
      .array(z.string())
      .describe("Profiles to go on with, in this order, when this one fails.")
      .default([]),
  })
  .describe("A backend and a model.");

export const profilesSchema = z
  .strictObject({
    $schema: z.string().describe("Where editors find the description of this file.").exactOptional(),
    defaultProfile: text("The active profile. Without it, Cortex looks for a model.").exactOptional(),
    profiles: named(profile, "Profiles by name. There is always one called offline.").default({}),
  })
  .describe("The models that Cortex can use.");

export type ProfilesFile = z.output<typeof profilesSchema>;

/** The schema of `config/profiles.json`. */
import { z } from "zod";
import { named } from "./schema-parts.ts";
import { planned } from "./planned.ts";
import { quote } from "./problem.ts";

const text = (description: string) => z.string().min(1).describe(description);
const usd = (description: string) => z.number().min(0).describe(description);
const variables = z.record(z.string(), z.string());

const price = z
  .strictObject({
    input: usd("Input tokens."),
    output: usd("Output tokens."),
    cacheRead: usd("Cache reads.").exactOptional(),
    cacheWrite: usd("Cache writes.").exactOptional(),
  })
  .describe("USD per million tokens, for a model that is not in the catalog.");

const profile = z
  .strictObject({
    backend: z
      .enum(["pi", "offline"])
      .describe("What runs the turn: pi calls a provider's model; offline needs none.")
      .register(planned, { names: ["claude", "codex", "acp"] })
      .default("pi"),
    provider: text(
      "anthropic, openai, google, openai-compatible, anthropic-compatible, or another that the backend supports.",
    ).exactOptional(),
    model: text("The provider's model id.").exactOptional(),
    baseUrl: z
      .url({ protocol: /^https?$/, error: ({ input }) => `invalid http or https URL ${quote(input)}` })
      .describe("URL of the model server, such as http://127.0.0.1:11434/v1.")
      .exactOptional(),
    // The message omits the value: a pasted key must not end up in a log.
    apiKeyEnv: z
      .string()
      .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, { error: "invalid environment variable name" })
      .describe("Environment variable that holds the API key, never the key itself.")
      .exactOptional(),
    thinking: z
      .enum(["off", "minimal", "low", "medium", "high", "xhigh"])
      .describe("How much the model thinks before it answers.")
      .exactOptional(),
    price: price.exactOptional(),
    contextWindow: z
      .int()
      .min(1)
      .describe("Context window in tokens, if the model is not in the catalog.")
      .exactOptional(),
    maxTokens: z.int().min(1).describe("Maximum length of an answer in tokens.").exactOptional(),
    extraEnv: variables
      .describe("Environment variables for the provider; they override those of the process.")
      .exactOptional(),
    extraOption: variables.describe("Extra request parameters, such as top_p.").exactOptional(),
    script: text("Offline: script to play, relative to the config folder.").exactOptional(),
    fallback: z.array(z.string()).describe("Fallback profiles, in order, when this one fails.").default([]),
  })
  .describe("A backend and a model.");

export const profilesSchema = z
  .strictObject({
    $schema: z.string().describe("JSON schema of this file, for editors.").exactOptional(),
    defaultProfile: text("Active profile. Without it, Cortex looks for a model.").exactOptional(),
    profiles: named(profile, "Profiles by name. `offline` always exists.").default({}),
  })
  .describe("Models that Cortex can use.");

export type ProfilesFile = z.output<typeof profilesSchema>;

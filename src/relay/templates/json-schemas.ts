import { z } from "zod";
import { agentSchema } from "./agent-schema.ts";
import { bindingSchema, relayFileSchema, shellSchema, templateSchema } from "./schema.ts";
import { sessionScriptsSchema } from "./session-scripts-file.ts";

/** The JSON Schemas of the files of relays, by the names under which they stand in the config folder. */
export const RELAY_SCHEMAS: Readonly<Record<string, z.ZodType>> = {
  "thread-templates.schema.json": relayFileSchema,
  "thread-agent.schema.json": agentSchema,
  "thread-template.schema.json": z.union([templateSchema, bindingSchema]),
  "thread-shell.schema.json": shellSchema,
  "session-hooks.schema.json": sessionScriptsSchema,
};

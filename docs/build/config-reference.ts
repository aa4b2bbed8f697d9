/** Generates the settings reference from the schemas that validate the files. */
import { z } from "zod";

import { COMMANDS } from "../../src/cli/commands.ts";
import { cortexSchema } from "../../src/config/cortex-schema.ts";
import { SETTINGS } from "../../src/config/overrides.ts";
import { profilesSchema } from "../../src/config/profiles-schema.ts";
import { TEAM_KEYS, TEAM_SETTINGS, teamFlag, teamVariable } from "../../src/config/team-settings.ts";
import { KEYED } from "../../src/config/choose-model.ts";
import { fieldsOf, type JsonSchema, typeOf } from "./json-schema.ts";
import { code, plain, sentence, table } from "./markdown.ts";

const HEAD = `# Every setting

All keys of all files with types and defaults. [Configuration](../configuration.md) explains the
files with examples, and which source of a setting takes precedence.`;

const VARIABLES = `Read from the environment, else from \`config/.env\`. Variables override files, and flags override
variables.`;

/** The flags of `cortex up`. */
const FLAGS = new Set(
  COMMANDS.find(({ usage }) => usage === "up")!.options!.map(([flags]) => flags.split(" ")[0]!),
);

/** Variables without a schema. */
const OTHER_VARIABLES: readonly (readonly [variable: string, flag: string, about: string])[] = [
  ["CORTEX_HOME", "--home", "The home (default `~/.cortex`). Not read from `.env`, which is in the home."],
  ["NO_COLOR", "--no-color", "Disables colors, with any value."],
  ...KEYED.map(({ provider, variable, model }): [string, string, string] => [
    variable,
    "",
    `The API key of ${provider}. Without \`defaultProfile\`, selects ${code(model)}, unless a key above is also set.`,
  ]),
];

export function configReference(): string {
  return [
    HEAD,
    "## cortex.json",
    ...describeFile(cortexSchema, "<id>"),
    "## profiles.json",
    ...describeFile(profilesSchema, "<name>"),
    "## config.yaml",
    "The settings of the [team](../teams.md), directly in the home.",
    teamTable(),
    "## Variables and flags",
    VARIABLES,
    variableTable(),
    "",
  ].join("\n\n");
}

/** One section per top-level key, with one row per value. */
function describeFile(schema: z.ZodType, entry: string): string[] {
  const { properties } = z.toJSONSchema(schema, { io: "input", target: "draft-7" }) as JsonSchema;
  return Object.entries(properties!)
    .filter(([key]) => key !== "$schema")
    .flatMap(([key, inner]) => describeKey(key, inner, entry));
}

function describeKey(key: string, schema: JsonSchema, entry: string): string[] {
  const fields = fieldsOf(schema, key);
  const isOneValue = fields[0]!.path === key; // its row has the description
  const about = isOneValue || schema.description === undefined ? [] : [sentence(plain(schema.description))];
  const rows = fields.map((field) => [
    code(field.path.replaceAll("<name>", entry)),
    typeOf(field.schema),
    field.schema.default === undefined ? "–" : code(JSON.stringify(field.schema.default)),
    plain(field.schema.description ?? ""),
  ]);
  return [`### ${key}`, ...about, table(["key", "type", "default", "description"], rows)];
}

function teamTable(): string {
  return table(
    ["key", "default", "description"],
    TEAM_KEYS.map((key) => [
      code(key),
      code(JSON.stringify(TEAM_SETTINGS[key].default)),
      plain(TEAM_SETTINGS[key].about),
    ]),
  );
}

function variableTable(): string {
  return table(
    ["variable", "flag", "sets"],
    [
      ...OTHER_VARIABLES.map(([variable, flag, about]) => [
        code(variable),
        flag === "" ? "–" : code(flag),
        about,
      ]),
      ...SETTINGS.map(({ variable, flag, path }) => [code(variable), flagOf(flag), code(path.join("."))]),
      ...TEAM_KEYS.map((key) => [code(teamVariable(key)), flagOf(teamFlag(key)), code(key)]),
    ],
  );
}

function flagOf(name: string): string {
  return FLAGS.has(`--${name}`) ? code(`--${name}`) : "–";
}

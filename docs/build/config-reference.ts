/** The page of all that can be configured, from the schemas that the files are checked with. */
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

All keys of all files, with what each may be and what it is unless given. [Configuration](../configuration.md) explains the
files, with examples, and says what comes first where a setting is given twice.`;

const VARIABLES = `From the environment of the process, else from \`config/.env\`. A variable comes before what the files say, and a flag
before the variable.`;

/** The flags of `cortex up`. */
const FLAGS = new Set(
  COMMANDS.find(({ usage }) => usage === "up")!.options!.map(([flags]) => flags.split(" ")[0]!),
);

/** Those that follow from no schema. */
const OTHER_VARIABLES: readonly (readonly [variable: string, flag: string, about: string])[] = [
  ["CORTEX_HOME", "--home", "The home. `~/.cortex`, unless given. Not from `.env`, which is in the home."],
  ["NO_COLOR", "--no-color", "No colours, whatever it says."],
  ...KEYED.map(({ provider, variable, model }): [string, string, string] => [
    variable,
    "",
    `The key of ${provider}. With no \`defaultProfile\`, ${code(model)} answers, unless a key above is set too.`,
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
    "The settings of the [team](../teams.md), in the home itself.",
    teamTable(),
    "## Variables and flags",
    VARIABLES,
    variableTable(),
    "",
  ].join("\n\n");
}

/** A section for every key at the top, with a row for each value below it. */
function describeFile(schema: z.ZodType, entry: string): string[] {
  const { properties } = z.toJSONSchema(schema, { io: "input", target: "draft-7" }) as JsonSchema;
  return Object.entries(properties!)
    .filter(([key]) => key !== "$schema")
    .flatMap(([key, inner]) => describeKey(key, inner, entry));
}

function describeKey(key: string, schema: JsonSchema, entry: string): string[] {
  const fields = fieldsOf(schema, key);
  const isOneValue = fields[0]!.path === key; // its row says what it is
  const about = isOneValue || schema.description === undefined ? [] : [sentence(plain(schema.description))];
  const rows = fields.map((field) => [
    code(field.path.replaceAll("<name>", entry)),
    typeOf(field.schema),
    field.schema.default === undefined ? "–" : code(JSON.stringify(field.schema.default)),
    plain(field.schema.description ?? ""),
  ]);
  return [`### ${key}`, ...about, table(["key", "type", "default", "what it is"], rows)];
}

function teamTable(): string {
  return table(
    ["key", "default", "what it is"],
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

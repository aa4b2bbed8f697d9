import * as fc from "fast-check";
import { parse } from "jsonc-parser";
import { expect, test } from "vitest";

import { entryAt, removeEntry, setEntry } from "./edit-entry.ts";

const TEXT = `// Mine.
{
  "channels": {
    // The bot of the family.
    "telegram": {
      "tokenEnv": "OLD", // from @BotFather
      "groups": "all"
    },
    /* Work. */
    "slack": { "botTokenEnv": "A", "appTokenEnv": "B" }
  },
  "timezone": "Europe/Berlin"
}
`;

test("a setting is replaced where it stands, and a missing one is added with what is missing above it", () => {
  const set = setEntry(TEXT, ["channels", "telegram", "tokenEnv"], "NEW");
  expect(set).toBe(TEXT.replace("OLD", "NEW"));
  expect(setEntry("", ["channels", "telegram", "accounts", "work", "tokenEnv"], "T")).toBe(`{
  "$schema": "./cortex.schema.json",
  "channels": {
    "telegram": {
      "accounts": {
        "work": {
          "tokenEnv": "T"
        }
      }
    }
  }
}
`);
});

test("an entry is removed with its lines, and the comments around it stay", () => {
  expect(removeEntry(TEXT, ["channels", "telegram"])).toBe(`// Mine.
{
  "channels": {
    // The bot of the family.
    /* Work. */
    "slack": { "botTokenEnv": "A", "appTokenEnv": "B" }
  },
  "timezone": "Europe/Berlin"
}
`);
});

test("the last entry takes the comma before it along", () => {
  expect(removeEntry(TEXT, ["channels", "slack"])).toBe(`// Mine.
{
  "channels": {
    // The bot of the family.
    "telegram": {
      "tokenEnv": "OLD", // from @BotFather
      "groups": "all"
    }
    /* Work. */
  },
  "timezone": "Europe/Berlin"
}
`);
  expect(removeEntry('{"a": 1, "b": 2}', ["a"])).toBe('{ "b": 2}');
  expect(removeEntry('{"a": 1, "b": 2}', ["b"])).toBe('{"a": 1 }');
  expect(removeEntry(TEXT, ["channels", "nothing"])).toBe(TEXT);
});

test("whatever the file holds, only the one entry changes", () => {
  const keys = fc.constantFrom("a", "b", "c", "d");
  const entry = fc.dictionary(keys, fc.oneof(fc.integer(), fc.string(), fc.dictionary(keys, fc.boolean())));
  fc.assert(
    fc.property(entry, keys, fc.constantFrom(undefined, 2, "\t"), (object, key, indent) => {
      const text = JSON.stringify(object, null, indent);
      const { [key]: _, ...rest } = object;
      expect(parse(removeEntry(text, [key]))).toEqual({ ...rest });
      const set = setEntry(text, [key], "new");
      expect(parse(set)).toEqual({ ...object, [key]: "new" });
      expect(entryAt(set, [key])).toBe("new");
    }),
  );
});

import { rename, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";

import { temporaryFolder } from "../../../test/support/temporary.ts";
import { createScriptReader, MAX_SCRIPTS_KEPT } from "./read-script.ts";
import { MAX_SCRIPT_BYTES } from "./script.ts";

const say = (text: string): string => `- {when: x, plays: [{say: ${text}}]}\n`;

test("a script is read once, and again when its file has changed", async () => {
  using folder = temporaryFolder();
  const file = join(folder.path, "play.yaml");
  await writeFile(file, say("one"));
  const read = createScriptReader();
  const first = await read(file);
  expect(await read(file)).toBe(first);

  await writeFile(file, say("other"));
  const second = await read(file);
  expect(second[0]?.plays[0]?.say).toBe("other");

  await utimes(file, 0, 0);
  expect(await read(file)).not.toBe(second);

  await writeFile(`${file}.new`, say("third"));
  await utimes(`${file}.new`, 0, 0);
  await rename(`${file}.new`, file);
  expect((await read(file))[0]?.plays[0]?.say).toBe("third");
});

test("a script that was broken can be played when it is corrected", async () => {
  using folder = temporaryFolder();
  const file = join(folder.path, "play.yaml");
  await writeFile(file, "- {");
  const read = createScriptReader();
  await expect(read(file)).rejects.toMatchObject({ code: "script_invalid" });
  await writeFile(file, say("well"));
  expect(await read(file)).toHaveLength(1);
});

test("of many scripts, the one that was read first makes room", async () => {
  using folder = temporaryFolder();
  const files = Array.from({ length: MAX_SCRIPTS_KEPT + 1 }, (_, at) => join(folder.path, `${at}.yaml`));
  await Promise.all(files.map(async (file) => writeFile(file, say("a"))));
  const read = createScriptReader();
  const first = await read(files[0]!);
  const second = await read(files[1]!);
  for (const file of files.slice(2)) await read(file);
  expect(await read(files[1]!)).toBe(second);
  expect(await read(files[0]!)).not.toBe(first);
});

test("a file that is missing, too large or none is named", async () => {
  using folder = temporaryFolder();
  const file = join(folder.path, "play.yaml");
  await writeFile(file, "#".padEnd(MAX_SCRIPT_BYTES + 1));
  const read = createScriptReader();
  await expect(read(file)).rejects.toThrow(`${file} cannot be played: it has`);
  await expect(read(`${file}.gone`)).rejects.toThrow(
    `${file}.gone cannot be played: the file cannot be read`,
  );
  await expect(read(folder.path)).rejects.toThrow(`${folder.path} cannot be played: it is not a file`);
});

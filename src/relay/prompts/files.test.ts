import { execFileSync } from "node:child_process";
import { chmodSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { relayHome } from "../../../test/support/relay-home.ts";
import { MAX_PROMPT_FILE_BYTES, readPrompt } from "./files.ts";

test("a text that is no reference is the prompt", async () => {
  using home = relayHome();
  const { text } = await readPrompt("Read file:x.md", "directive", home.folders.home);
  expect(text).toBe("Read file:x.md");
});

test.each([
  ["directive", "directives"],
  ["promptTemplate", "promptTemplates"],
  ["systemPrompt", "systemPrompts"],
] as const)(
  "%s refers to files of prompts/%s, and what they extend is in templates",
  async (field, folder) => {
    using home = relayHome({
      [`prompts/${folder}/plain.md`]: "\uFEFFplain",
      [`prompts/${folder}/deep/er.md`]: "deeper",
      [`prompts/${folder}/..dots.md`]: "dots",
      [`prompts/${folder}/child.md`]: "---\nextends: base.md\n---\n@fill(x)\nmine\n@endfill\n",
      [`prompts/${folder}/templates/base.md`]: "@block(x)\n@endblock\nbase",
    });
    const read = async (name: string): Promise<string> =>
      (await readPrompt(`file:${name}`, field, home.folders.home)).text;
    expect(await read("plain.md")).toBe("plain");
    expect(await read("deep/er.md")).toBe("deeper");
    expect(await read("./deep/../plain.md")).toBe("plain");
    expect(await read("..dots.md")).toBe("dots");
    expect(await read("child.md")).toBe("mine\nbase");
  },
);

test.each([
  "../promptTemplates/x.md",
  "../../config/.env",
  "deep/../../directives2/x.md",
  "/etc/passwd",
  "C:\\Windows\\x.md",
  "\\\\server\\x.md",
  "..",
  ".",
  "",
  "a\0b",
])("%j is refused by its name", async (name) => {
  using home = relayHome({
    "prompts/directives/x.md": "x",
    "prompts/directives2/x.md": "x",
    "config/.env": "x",
  });
  await expect(readPrompt(`file:${name}`, "directive", home.folders.home)).rejects.toMatchObject({
    code: "config_invalid",
    message: `${JSON.stringify(name)} is not a file in prompts/directives`,
    hint: "Use a path relative to prompts/directives.",
  });
});

test("what a prompt extends does not lead out of the templates either", async () => {
  using home = relayHome({
    "prompts/directives/x.md": "---\nextends: ../../../secret.md\n---\n",
    "prompts/directives/templates/": "",
    "secret.md": "secret",
  });
  await expect(readPrompt("file:x.md", "directive", home.folders.home)).rejects.toThrow(
    '"../../../secret.md" is not a file in prompts/directives/templates',
  );
});

test("a base that is not there is an error", async () => {
  using home = relayHome({ "prompts/directives/x.md": "---\nextends: gone.md\n---\n" });
  await expect(readPrompt("file:x.md", "directive", home.folders.home)).rejects.toThrow(
    "prompts/directives/templates/gone.md does not exist",
  );
});

test("a file may be so large and no larger", async () => {
  using home = relayHome({
    "prompts/directives/large.md": "x".repeat(MAX_PROMPT_FILE_BYTES),
    "prompts/directives/huge.md": "x".repeat(10 * 1024 * 1024),
  });
  const { text } = await readPrompt("file:large.md", "directive", home.folders.home);
  expect(text).toHaveLength(MAX_PROMPT_FILE_BYTES);
  await expect(readPrompt("file:huge.md", "directive", home.folders.home)).rejects.toThrow(
    "prompts/directives/huge.md has 10485760 bytes, more than the limit of 1048576",
  );
});

test("folders, pipes and bytes that are no text are refused", async () => {
  using home = relayHome({ "prompts/directives/folder/": "" });
  const folder = join(home.folders.home, "prompts/directives");
  execFileSync("mkfifo", [join(folder, "pipe")]);
  execFileSync("sh", ["-c", `printf '\\377\\376' > "$0"`, join(folder, "bytes")]);
  const read = (name: string): Promise<unknown> => readPrompt(`file:${name}`, "directive", home.folders.home);
  await expect(read("folder")).rejects.toThrow("prompts/directives/folder is not a file");
  await expect(read("pipe")).rejects.toThrow("prompts/directives/pipe is not a file");
  await expect(read("bytes")).rejects.toThrow("prompts/directives/bytes is not UTF-8");
});

test.skipIf(process.getuid?.() === 0)("a file that may not be read is an error", async () => {
  using home = relayHome({ "prompts/directives/x.md": "x" });
  chmodSync(join(home.folders.home, "prompts/directives/x.md"), 0);
  await expect(readPrompt("file:x.md", "directive", home.folders.home)).rejects.toThrow(
    "cannot be read (EACCES)",
  );
});

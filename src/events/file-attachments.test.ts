import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import { temporaryFolder } from "../../test/support/temporary.ts";
import { MAX_ATTACHMENT_BYTES, MAX_ATTACHMENTS } from "../model/event.ts";
import type { Json } from "../model/json.ts";
import { fileAttachments } from "./file-attachments.ts";

const sha256 = (content: Uint8Array): string => createHash("sha256").update(content).digest("hex");
const ANY = async () => true;
const base64 = (text: string): string => Buffer.from(text).toString("base64");

test("an attachment is filed under its hash, and the event keeps what is known of it", async () => {
  using folder = temporaryFolder();
  const attachment = { name: "a.txt", contentType: "text/plain", data: base64("hello") };
  const hash = sha256(Buffer.from("hello"));
  const path = join(folder.path, "in", hash);
  expect(await fileAttachments([attachment, attachment], join(folder.path, "in"), ANY)).toEqual(
    Array.from({ length: 2 }, () => ({
      name: "a.txt",
      contentType: "text/plain",
      bytes: 5,
      sha256: hash,
      path,
      state: "stored",
    })),
  );
  expect(readdirSync(join(folder.path, "in"))).toEqual([hash]);
  expect(readFileSync(path, "utf8")).toBe("hello");
  expect([statSync(path).mode & 0o777, statSync(join(folder.path, "in")).mode & 0o777]).toEqual([
    0o600, 0o700,
  ]);
});

test("one that is too large is recorded with its size and hash, and is not kept", async () => {
  using folder = temporaryFolder();
  const data = Buffer.alloc(MAX_ATTACHMENT_BYTES + 1);
  expect(await fileAttachments([{ name: "big", data: data.toString("base64") }], folder.path, ANY)).toEqual([
    { name: "big", bytes: data.length, sha256: sha256(data), state: "too_large" },
  ]);
  expect(readdirSync(folder.path)).toEqual([]);
  const largest = data.subarray(1);
  const [kept] = (await fileAttachments(
    [{ data: largest.toString("base64") }],
    folder.path,
    ANY,
  )) as object[];
  expect(kept).toMatchObject({ bytes: MAX_ATTACHMENT_BYTES, state: "stored" });
});

test("over the limit of their sender, all files of an event are recorded and not kept", async () => {
  using folder = temporaryFolder();
  const asked: number[] = [];
  const mayKeep = async (bytes: number) => asked.push(bytes) > 1;
  const attachments = [{ data: base64("hello") }, { data: base64("you") }];
  expect(await fileAttachments(attachments, folder.path, mayKeep)).toMatchObject([
    { bytes: 5, state: "over_limit" },
    { bytes: 3, state: "over_limit" },
  ]);
  expect(readdirSync(folder.path)).toEqual([]);
  expect(asked).toEqual([8]);
});

test("without data, what the adapter tells is kept, and nothing that only filing can know", async () => {
  const told = { name: "photo", url: "https://example.com/1.jpg" };
  const forged = { ...told, state: "stored", sha256: "0".repeat(64), bytes: 1 };
  expect(await fileAttachments([forged], "/nowhere", ANY)).toEqual([{ ...told, state: "remote" }]);
});

test.each<[string, Json, RegExp]>([
  ["no list", { name: "a" }, /Expected a list of attachments/],
  ["a text", ["a.txt"], /attachments\[0\]: expected an object, got "a.txt"/],
  [
    "data that is not base64",
    [{ data: "aGVsbG8=" }, { data: "a b c d!" }],
    /attachments\[1\]\.data: invalid base64/,
  ],
  [
    "more than fit",
    Array.from({ length: MAX_ATTACHMENTS + 1 }, () => ({})),
    /at most 20 attachments, got 21/,
  ],
])("%s is refused, and nothing is filed", async (_, attachments, message) => {
  using folder = temporaryFolder();
  const refused = fileAttachments(attachments, folder.path, ANY);
  await expect(refused).rejects.toMatchObject({
    code: "event_invalid",
    message: expect.stringMatching(message),
  });
  expect(readdirSync(folder.path)).toEqual([]);
});

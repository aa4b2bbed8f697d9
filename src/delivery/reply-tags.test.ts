import * as fc from "fast-check";
import { expect, test } from "vitest";

import { MAX_REPLY_ID_LENGTH, MAX_TAGGED_LENGTH, parseReply } from "./reply-tags.ts";

const plain = { replyTo: undefined, voice: false, silent: false };

test.each<[string, object]>([
  ["[[reply_to_current]] Done.", { ...plain, text: "Done.", replyTo: "current" }],
  ["Done. [[reply_to_current]]", { ...plain, text: "Done.", replyTo: "current" }],
  ["One [[ Reply_To_Current ]] two", { ...plain, text: "One two", replyTo: "current" }],
  ["[[reply_to:m-42]]\n\nDone.\n", { ...plain, text: "Done.", replyTo: { id: "m-42" } }],
  ["[[reply_to_current]][[reply_to: a:b ]]x", { ...plain, text: "x", replyTo: { id: "a:b" } }],
  ["[[audio_as_voice]]\nHello", { ...plain, text: "Hello", voice: true }],
  ["Hello[[audio_as_voice]]there", { ...plain, text: "Hellothere", voice: true }],
  ["[[reply_to_nobody]] and [[links]]", { ...plain, text: "[[reply_to_nobody]] and [[links]]" }],
  ["    code\n[[reply_to_current]]", { ...plain, text: "    code", replyTo: "current" }],
  ["- a\n  - b [[reply_to_current]]\n", { ...plain, text: "- a\n  - b", replyTo: "current" }],
])("%j is understood", (answer, reply) => {
  expect(parseReply(answer)).toEqual(reply);
});

test.each([
  "Write `[[reply_to_current]]` to reply.",
  "Write ``a ` [[audio_as_voice]]`` here.",
  "```\n[[reply_to_current]]\n```",
  "~~~md\n[[reply_to:1]]\n~~~\nand so on",
])("%j is left alone: a tag in code is text", (answer) => {
  expect(parseReply(answer)).toEqual({ ...plain, text: answer });
});

test("a tag beside code is still a tag", () => {
  const reply = parseReply("Run `make` [[reply_to_current]] or ` this");
  expect(reply).toEqual({ ...plain, text: "Run `make` or ` this", replyTo: "current" });
});

test.each(["NO_REPLY", "  NO_REPLY\n", "[[reply_to_current]] NO_REPLY", "", " \n ", "[[audio_as_voice]]"])(
  "%j sends nothing",
  (answer) => {
    expect(parseReply(answer).silent).toBe(true);
  },
);

test.each(["NO_REPLY needed", "no_reply", "`NO_REPLY`", "Say NO_REPLY"])("%j is an answer", (answer) => {
  expect(parseReply(answer)).toEqual({ ...plain, text: answer });
});

test("an id that no platform gives is passed over, and its tag goes all the same", () => {
  for (const id of ["x".repeat(MAX_REPLY_ID_LENGTH + 1), "a\u0007b", " "]) {
    expect(parseReply(`[[reply_to:${id}]] Hi`)).toEqual({ ...plain, text: "Hi" });
  }
  expect(parseReply(`[[reply_to:${"x".repeat(MAX_REPLY_ID_LENGTH)}]] Hi`).replyTo).toBeDefined();
});

test("a text without tags comes back as it is", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), (answer) => {
      fc.pre(!answer.includes("[["));
      expect(parseReply(answer).text).toBe(answer);
    }),
  );
});

test("an answer longer than any model's is sent as it is", () => {
  const answer = "[[reply_to_current]] x".padEnd(MAX_TAGGED_LENGTH, "x");
  expect(parseReply(answer).replyTo).toBe("current");
  expect(parseReply(`${answer}x`)).toEqual({ ...plain, text: `${answer}x` });
});

import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import { callTool, testWorkspace } from "../../test/support/tool-context.ts";
import { OutgoingFiles } from "../agents/tools/outgoing-file.ts";
import { TEXT_ONLY } from "../channels/outlet.ts";
import { attachedTo } from "../model/attach-tool.ts";
import type { ToolCall } from "../model/message.ts";
import type { ToolContext } from "../model/tool.ts";
import { deliveriesOf } from "./address.ts";
import { createAttachTool } from "./attach-tool.ts";

const tool = createAttachTool({
  files: new OutgoingFiles(async (content) => createHash("sha256").update(content).digest("hex")),
  can: (channel) => (channel === "telegram" ? { ...TEXT_ONLY, attach: { maxBytes: 1_024 } } : TEXT_ONLY),
});
const answersTo = { channel: "telegram", place: "42" };

async function attach(params: object, fields: Partial<ToolContext> = { answersTo }) {
  using workspace = testWorkspace(fields);
  writeFileSync(join(workspace.context.workspace, "a.ogg"), "OggS");
  writeFileSync(join(workspace.context.workspace, "b.txt"), "b");
  return await callTool(tool, params as never, workspace.context);
}

function called(result: unknown, status = "ok"): ToolCall {
  return { tool: "attach", status, result } as unknown as ToolCall;
}

test("attached files go with the answer of the turn, each once", async () => {
  const result = await attach({ files: ["a.ogg", "b.txt"] });
  expect(result.text).toBe('2 files will be sent with your answer: "a.ogg", "b.txt".');
  const files = attachedTo([called(result), called(result), called(result, "error")]);
  expect(files.map(({ name }) => name)).toEqual(["a.ogg", "b.txt"]);
  const source = { channel: "telegram", place: "42" };
  const answer = { source, mintId: () => "1", files };
  expect(deliveriesOf({ ...answer, text: "Here" })).toEqual([{ id: "1", target: source, extras: { files } }]);
  const [spoken] = deliveriesOf({ ...answer, text: "[[audio_as_voice]] Listen" });
  expect(spoken!.extras!.files).toMatchObject([{ voice: true }, { name: "b.txt" }]);
  expect(spoken!.extras!.files![1]).not.toHaveProperty("voice");
});

test("files need no text, and a silent answer sends none", async () => {
  const files = attachedTo([called(await attach({ files: ["a.ogg"], voice: true }))]);
  expect(files).toMatchObject([{ voice: true }]);
  const answer = { source: { channel: "telegram", place: "42" }, mintId: () => "1", files };
  expect(deliveriesOf({ ...answer, text: "[[audio_as_voice]]" })).toHaveLength(1);
  expect(deliveriesOf({ ...answer, text: "NO_REPLY" })).toEqual([]);
});

test("an answer that nobody is sent, or a channel without files, takes none", async () => {
  await expect(attach({ files: ["a.ogg"] }, {})).rejects.toMatchObject({ code: "delivery_refused" });
  await expect(
    attach({ files: ["a.ogg"] }, { answersTo: { channel: "webhook", place: "shop" } }),
  ).rejects.toMatchObject({ message: 'The channel "webhook" cannot send files' });
});

test("whoever gets the answer gets what is private in its files", async () => {
  const label = { untrusted: [], private: ["person:bob"], denied: [] };
  const labels = { ofFile: async () => label } as unknown as ToolContext["labels"];
  expect((await attach({ files: ["a.ogg"] }, { answersTo, labels })).label).toEqual(label);
  expect(await attach({ files: ["a.ogg"] })).not.toHaveProperty("label");
});

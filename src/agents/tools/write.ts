import { z } from "zod";

import { count } from "../../model/count.ts";
import { confine } from "./confine.ts";
import { defineFileTool, FILE_TIMEOUT_MS, pathParameter } from "./file-tool.ts";
import { asksToChange, proposeChange, requireAgreement } from "./propose-change.ts";
import { replaceFile } from "./replace-file.ts";

export const writeTool = defineFileTool({
  name: "Write",
  description:
    "Writes a text file and creates missing folders. Replaces an existing file: to change a part of it, use Edit.",
  parameters: z.strictObject({
    path: pathParameter,
    content: z.string().describe("The whole content of the file"),
  }),
  writes: true,
  repeatable: true,
  timeoutMs: FILE_TIMEOUT_MS,
  trust: {},
  errorTrust: { private: true },
  async asksForOthers({ path }, context) {
    return asksToChange(await confine(path, context, "write"), context);
  },
  async proposal({ path, content }, context) {
    return proposeChange(await confine(path, context, "write"), () => Buffer.from(content), context);
  },
  async run({ path, content }, context) {
    const place = await confine(path, context, "write");
    await requireAgreement(place, context);
    const bytes = Buffer.from(content);
    await replaceFile(place, bytes, context);
    return { text: `Wrote ${count(bytes.length, "byte")} to ${JSON.stringify(place.shown)}.` };
  },
});

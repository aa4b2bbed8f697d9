/** The tool by which an agent sends files with the answer of its turn. */
import { z } from "zod";

import { type OutletCan, TEXT_ONLY } from "../channels/outlet.ts";
import { ATTACH_TOOL } from "../model/attach-tool.ts";
import { count } from "../model/count.ts";
import { defineTool } from "../model/define-tool.ts";
import { CortexError } from "../model/errors.ts";
import type { Json } from "../model/json.ts";
import type { Tool, ToolContext } from "../model/tool.ts";
import { joinLabels, NO_LABEL } from "../model/trust.ts";
import { asVoice, requireFiles } from "./fit-extras.ts";
import { type FileSource, filesParameter } from "./outgoing-files.ts";

const TIMEOUT_MS = 60_000;

interface AttachToolOptions {
  readonly files: FileSource;
  /** Undefined: unknown channel. */
  readonly can: (channel: string, account?: string) => OutletCan | undefined;
}

export function createAttachTool({ files, can }: AttachToolOptions): Tool {
  return defineTool({
    name: ATTACH_TOOL,
    description:
      "Sends files to the user together with this turn's answer, after its text. Use it for files the user asked " +
      "for or needs to see, such as a chart or a report.",
    parameters: z.strictObject({
      files: filesParameter,
      voice: z.boolean().optional().describe("Send audio as a voice note"),
    }),
    writes: false,
    repeatable: true,
    timeoutMs: TIMEOUT_MS,
    // Whoever gets the answer reads them: it is held if they may not.
    trust: { untrusted: true, private: true },
    errorTrust: { private: true },
    labels: true,
    async run({ files: wanted, voice = false }, context) {
      const { channel, account } = requireAddress(context);
      const { maxBytes } = requireFiles(channel, can(channel, account) ?? TEXT_ONLY);
      const kept = [];
      let label = NO_LABEL;
      let isLabelled = true;
      for (const file of wanted) {
        const before = await files.label(file, context);
        const outgoing = await files.keep(file, context, { channel, maxBytes });
        const after = await files.label(file, context);
        if (before === undefined || after === undefined) isLabelled = false;
        else label = joinLabels(label, before, after);
        kept.push(voice ? asVoice(outgoing) : outgoing);
      }
      const names = kept.map(({ name }) => JSON.stringify(name)).join(", ");
      const text = `${count(kept.length, "file")} will be sent with your answer: ${names}.`;
      const details = { files: kept } as unknown as Json;
      return { text, details, ...(isLabelled ? { label } : {}) };
    },
  });
}

function requireAddress({ answersTo }: ToolContext): NonNullable<ToolContext["answersTo"]> {
  if (answersTo !== undefined) return answersTo;
  throw new CortexError("delivery_refused", "The answer of this turn is not sent to a channel", {
    hint: "Name the path of the file in the answer instead.",
  });
}

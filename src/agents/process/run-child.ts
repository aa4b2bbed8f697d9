/**
 * The child's side: reads what the parent says until there is no more, for then the parent is gone. `ready` is
 * said before anything heavy is loaded. Takes one piece of work after the other.
 */
import type { Readable, Writable } from "node:stream";

import { CortexError } from "../../model/errors.ts";
import { ChildWork, type ChildWorkParts } from "./child-work.ts";
import { LineReader, writeLine } from "./lines.ts";
import { type ParentLine, parseParentLine, PROTOCOL_VERSION } from "./protocol.ts";

interface ChildParts extends Omit<ChildWorkParts, "send"> {
  readonly input: Readable;
  readonly output: Writable;
}

/** Resolves when there is nothing more to do, whatever is under way. False: the parent has broken the protocol. */
export async function runChild({ input, output, ...parts }: ChildParts): Promise<boolean> {
  const send = (line: object): void => writeLine(output, line);
  const lines = new LineReader(input);
  let work: ChildWork | undefined;
  try {
    for (;;) {
      const line = await lines.next();
      if (line === undefined) return true;
      const said = parseParentLine(line);
      if (said !== undefined) take(said);
    }
  } catch (error) {
    if (!(error instanceof CortexError)) throw error;
    send({ type: "error", error: error.message, code: error.code, transient: false });
    return false;
  }

  function take(line: ParentLine): void {
    switch (line.type) {
      case "init":
        checkInit(line, work);
        send({ type: "ready", version: PROTOCOL_VERSION });
        work = new ChildWork(line, { ...parts, send });
        return void carryOut(work);
      case "message":
        return work?.hear(line.content);
      case "tool_result":
        if (work?.takeResult(line) === false) throw refused(`nobody has requested "${line.id}"`);
        return;
      case "cancel": // may come when it is done
        return work?.cancel();
      case "ping":
        return send({ type: "pong" });
    }
  }

  async function carryOut(given: ChildWork): Promise<void> {
    const end = await given.run();
    work = undefined; // who hears that it is done may send the next
    send(end);
  }
}

function checkInit({ version }: { readonly version: number }, work: ChildWork | undefined): void {
  if (work !== undefined) throw refused("there is work already");
  if (version < 1 || version > PROTOCOL_VERSION)
    throw refused(`version ${version} is not 1 or ${PROTOCOL_VERSION}`);
}

function refused(why: string): CortexError {
  return new CortexError("sub_agent_failed", `The sub-agent cannot go on: ${why}`, {
    hint: "docs/sub-agent-protocol.md says what a parent may send, and when.",
  });
}

/** Relays for tests of those who start them: two agents after each other, one of which can be made to wait. */
import type { RelayId } from "../../src/model/ids.ts";
import type { RelayRecord } from "../../src/relay/record/record.ts";
import type { Cortex } from "../../src/runtime/cortex.ts";
import { PATIENT } from "./server.ts";

const agent = (promptTemplate: string) => ({
  description: "An agent",
  profile: "__active__",
  persistSession: false,
  promptTemplate,
});

export const SMALL_RELAYS = {
  agents: {
    writer: agent("WRITE {{userMessage}} TO {{artifactPath}}"),
    reader: agent("READ {{userMessage}} IN {{artifactPath}}"),
  },
  templates: {
    pair: {
      description: "One writes, one reads",
      agents: ["writer", "reader"],
      transitions: [{ from: "writer", to: "reader", condition: { type: "always" } }],
      entryAgent: "writer",
      maxTotalSteps: 4,
    },
  },
};

/** The writer writes what it is asked for; asked for something slow, it takes its time over it; asked to fail, it does. */
export const SMALL_SCRIPT = `
- { when: "WRITE slow", plays: [{ say: late, delayMs: 600000 }] }
- { when: "WRITE fail", plays: [{ fault: refused }] }
- { when: "WRITE give up", plays: [{ calls: [{ tool: relay_abort, args: { reason: "no ink" } }] }, { say: sorry }] }
- when: "(?s)WRITE (.*?) TO (\\\\S+)"
  plays:
    - calls: [{ tool: Write, args: { path: "$2", content: "written: $1" } }]
    - { say: "I wrote $1" }
- { when: "(?s)READ (.*?) IN", plays: [{ say: "I read $1" }] }
`;

export async function ended({ relays }: Cortex, { id }: { readonly id: string }): Promise<RelayRecord> {
  const record = await relays.ended(id as RelayId, AbortSignal.timeout(PATIENT.timeout));
  if (record === undefined) throw new Error(`${id} has not ended in time`);
  return record;
}

/** What the tool calls of a run work with. */
import { readTrust } from "../model/trust.ts";
import { attachedFiles } from "./attachments.ts";
import type { CallParts } from "./call-tool.ts";
import { markSession } from "./untrusted.ts";
import type { Work } from "./prepare.ts";
import type { TurnPorts } from "./turn-ports.ts";

type RunCircumstances = Pick<CallParts, "signal" | "isStopping" | "hasSteering" | "suspensions">;

export function callParts(work: Work, circumstances: RunCircumstances, parts: TurnPorts): CallParts {
  const { claim, setup, folders, tools, journal } = work;
  const { session } = claim.lease;
  const { store } = parts;
  const permissions = work.permissions();
  return {
    ...circumstances,
    journal,
    tools,
    clock: parts.clock,
    mintId: parts.mintId,
    redact: parts.redact,
    context: {
      session,
      agent: setup.id,
      turn: claim.turn,
      run: claim.run,
      epoch: claim.lease.epoch,
      ...folders,
      roots: permissions.roots,
      get readable() {
        const skills = work.skills.filter(({ source }) => source !== "workspace");
        // Messages that join the turn bring files too.
        return [
          ...skills.map(({ folder }) => folder),
          ...work.items.flatMap(({ event }) => attachedFiles(event.attachments)),
          ...work.attachedBefore,
        ];
      },
      get environment() {
        return parts.toolEnvironment(permissions);
      },
      sandbox: parts.sandbox.sandbox(),
    },
    permissions: work.permissions,
    delegable: work.delegable,
    codeMode: () => parts.sandbox.mode().effective,
    hooks: parts.toolHooks(setup),
    readTrust: async () => readTrust((await store.sessions.get(session))?.settings ?? {}),
    mark: (marks) => markSession(session, marks, store),
    readChild: (detail) => parts.features.readWait(detail),
    readApproval: (id) => store.approvals.get(id),
    useApproval: (id) => store.approvals.use(claim.lease, claim.run, id),
  };
}

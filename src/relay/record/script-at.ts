/** Which script has its say at a moment of a relay. */
import type { Phase, ScriptPoint } from "./record.ts";
import type { RelayScript, RelayScripts, SnapshotContent } from "../templates/snapshot.ts";

const SCRIPT_NAMES = {
  start: "onStart",
  transition: "onTransition",
  end: "onEnd",
} as const satisfies Record<ScriptPoint, keyof RelayScripts>;

/** `extra` are those that the caller gave: they are not kept, so that after a restart there are none. */
export function scriptAt(
  { point, source }: Pick<Extract<Phase, { kind: "script" }>, "point" | "source">,
  { template }: SnapshotContent,
  extra: RelayScripts | undefined,
): RelayScript | undefined {
  const scripts = source === "template" ? template?.hooks : extra;
  return scripts?.[SCRIPT_NAMES[point]];
}

/** Whether an approval still holds: what it is bound to beside the call may have changed since a person was asked. */
import { gainedUntrusted, labelNames } from "../model/label-names.ts";
import type { FileDigest, Request } from "../model/request.ts";
import type { Trust } from "../model/trust.ts";
import type { Approval } from "../store/store.ts";

interface Present {
  readonly trust: Trust;
  /** The files that the call changes or runs. */
  readonly files: readonly FileDigest[];
  /** Whether another call of the turn, made since the request, may have brought the labels that are new. */
  readonly isOwnDoing: boolean;
}

/**
 * What has changed, as the beginning of a sentence. Undefined: the approval holds. Labels count until the person agreed,
 * and not if other calls of the same message have brought them: the model wrote all of them before it read any result.
 */
export function changeSince(
  { request, answer }: Approval,
  { trust, files, isOwnDoing }: Present,
): string | undefined {
  const { labels, files: asked = [] } = request as unknown as Request;
  if (labels === undefined) return undefined; // an earlier version asked
  const now = (answer?.kind === "approve" ? answer.labels : undefined) ?? labelNames(trust);
  const gained = isOwnDoing ? [] : gainedUntrusted(labels, now);
  if (gained.length > 0)
    return `Text from others reached this conversation after the request (${gained.join(", ")})`;
  const before = new Map(asked.map(({ path, sha256 }) => [path, sha256]));
  const changed = files.filter(({ path, sha256 }) => before.get(path) !== sha256).map(({ path }) => path);
  const gone = asked.filter(({ path }) => !files.some((file) => file.path === path)).map(({ path }) => path);
  const different = [...changed, ...gone];
  return different.length === 0
    ? undefined
    : `${different.map((path) => JSON.stringify(path)).join(", ")} changed after the request`;
}

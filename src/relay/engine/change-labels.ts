/**
 * Whose words the changes of files hold: what was in the files and is now, and their names. A step is told of all that
 * changed in its folder, whoever changed it: documents of others arrive there, and other conversations write there.
 */
import { isOutside } from "../../model/audience.ts";
import type { Json } from "../../model/json.ts";
import { isWithin, joinLabels, labelJson, mayTell, OWNERS } from "../../model/trust.ts";
import { FileLabels } from "../../personas/file-labels.ts";
import { foreignFolders } from "../../personas/foreign-folders.ts";
import { agentFor } from "../../personas/lookup.ts";
import type { FileChange } from "../artifact/file-changes.ts";
import type { FolderSnapshot } from "../artifact/folder-snapshot.ts";
import type { KeptRelay } from "../record/kept-relay.ts";
import type { EnginePorts } from "./engine-ports.ts";
import { principalOfRelay, readLabel } from "./relay-label.ts";

type Relay = Pick<KeptRelay, "record" | "detail" | "content">;
export type LabelPorts = Pick<EnginePorts, "home" | "store" | "settings">;

/** By path: the labels of files, except the owner's. */
export type LabelsOfFiles = readonly (readonly [path: string, label: Json])[];

/** With its label as stored. */
export type LabelledChange = FileChange & { readonly label: Json };

export async function labelsOfFiles(
  { files }: FolderSnapshot,
  relay: Relay,
  ports: LabelPorts,
): Promise<LabelsOfFiles> {
  const labels = fileLabelsOf(relay, ports);
  const found = await Promise.all(
    [...files.keys()].map(async (path) => ({ path, label: await labels.ofFile(path) })),
  );
  return found.flatMap(({ path, label }) =>
    isWithin(label, OWNERS) ? [] : [[path, labelJson(label)] as const],
  );
}

export async function labelChanges(
  changes: readonly FileChange[],
  { before, after }: { readonly before: LabelsOfFiles; readonly after: FolderSnapshot },
  relay: Relay,
  ports: LabelPorts,
): Promise<readonly LabelledChange[]> {
  const labels = fileLabelsOf(relay, ports);
  const known = new Map(before);
  return Promise.all(
    changes.map(async (change) => {
      const was = joinLabels(OWNERS, readLabel(known.get(change.path)));
      const is = after.files.has(change.path) ? await labels.ofReadFile(change.path) : OWNERS;
      return { ...change, label: labelJson(joinLabels(was, is)) };
    }),
  );
}

/** The changes that may be told in a relay: to another person or a room, only what is private to nobody else. */
export async function tellable(
  changes: readonly LabelledChange[],
  { detail }: Pick<KeptRelay, "detail">,
  { store }: Pick<EnginePorts, "store">,
): Promise<readonly LabelledChange[]> {
  const heardBy = detail.audience ?? (await principalOfRelay(detail, store));
  return isOutside(heardBy) ? changes.filter(({ label }) => mayTell(readLabel(label), heardBy)) : changes;
}

function fileLabelsOf({ record, detail, content }: Relay, { home, store, settings }: LabelPorts): FileLabels {
  const config = settings.config();
  const named = { startedBy: detail.persona, folder: detail.dir ?? record.workspacePath };
  const slots = [...content.added, ...(content.template?.agents ?? [])];
  const workers = slots.map(({ name }) => agentFor(config, name, named).agent);
  return new FileLabels({ labels: store.labels, home, foreign: foreignFolders(home, config, workers) });
}

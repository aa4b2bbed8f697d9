/**
 * What the package depends on, as CycloneDX 1.5: every production dependency with version, license and hash.
 *
 * Made from the lock file alone, so the same commit gives the same bytes on every machine. `npm sbom --omit dev` would leave
 * out those that a development dependency can use as well.
 */
interface Locked {
  readonly name?: string;
  readonly version: string;
  readonly integrity?: string;
  readonly license?: string;
  readonly dev?: boolean;
  readonly devOptional?: boolean;
  readonly optional?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

export interface LockFile {
  readonly packages: Readonly<Record<string, Locked>>;
}

export interface Sbom {
  readonly components: readonly {
    readonly name: string;
    readonly version: string;
    readonly hashes: readonly { readonly alg: string; readonly content: string }[];
  }[];
}

export function sbomOf({ packages }: LockFile): Sbom {
  const production = Object.entries(packages).filter(
    ([path, { dev = false, devOptional = false }]) => path !== "" && !dev && !devOptional,
  );
  const refs = new Map(Object.entries(packages).map(([path, locked]) => [path, refOf(path, locked)]));
  const components = new Map(
    production.map(([path, locked]) => [refs.get(path)!, componentOf(path, locked)]),
  );
  const dependencies = new Map(
    ["", ...production.map(([path]) => path)].map((path) => [
      refs.get(path)!,
      dependsOn(path, packages, refs),
    ]),
  );
  const { name, version } = packages[""]!;
  return {
    $schema: "http://cyclonedx.org/schema/bom-1.5.schema.json",
    bomFormat: "CycloneDX",
    specVersion: "1.5",
    version: 1,
    metadata: {
      component: {
        "bom-ref": refs.get(""),
        type: "application",
        name,
        version,
        purl: purlOf(name!, version),
        ...licensesOf(packages[""]!),
      },
    },
    components: inOrder(components).map(([, component]) => component),
    dependencies: inOrder(dependencies).map(([ref, on]) => ({ ref, dependsOn: on })),
  } as Sbom;
}

function componentOf(path: string, locked: Locked): Sbom["components"][number] {
  const { version, integrity = "", optional = false } = locked;
  const name = nameOf(path, locked);
  return {
    type: "library",
    "bom-ref": refOf(path, locked),
    name,
    version,
    scope: optional ? "optional" : "required",
    purl: purlOf(name, version),
    hashes: integrity.split(/\s+/).flatMap(hashOf),
    ...licensesOf(locked),
  } as Sbom["components"][number];
}

/** `sha512-…` in base64, as CycloneDX writes it. */
function hashOf(integrity: string): Sbom["components"][number]["hashes"] {
  const [, bits, content] = /^sha(\d+)-([A-Za-z0-9+/=]+)$/.exec(integrity) ?? [];
  return bits === undefined
    ? []
    : [{ alg: `SHA-${bits}`, content: Buffer.from(content!, "base64").toString("hex") }];
}

function licensesOf({ license }: Locked): object {
  if (license === undefined) return {};
  return { licenses: [/^[\w.-]+$/.test(license) ? { license: { id: license } } : { expression: license }] };
}

/** The nearest of that name, as Node finds it; what is not installed is left out. */
function dependsOn(
  path: string,
  packages: LockFile["packages"],
  refs: ReadonlyMap<string, string>,
): readonly string[] {
  const { dependencies, optionalDependencies, peerDependencies } = packages[path]!;
  const names = Object.keys({
    ...dependencies,
    ...optionalDependencies,
    ...(path === "" ? {} : peerDependencies),
  });
  const found = names.flatMap((name) => {
    for (let from = path; ; from = parentOf(from)) {
      const place = from === "" ? `node_modules/${name}` : `${from}/node_modules/${name}`;
      const locked = packages[place];
      if (locked !== undefined) return locked.dev === true ? [] : [refs.get(place)!];
      if (from === "") return [];
    }
  });
  return [...new Set(found)].toSorted();
}

/** The package in whose `node_modules` this one is. */
function parentOf(path: string): string {
  const end = path.lastIndexOf("node_modules/");
  return end <= 0 ? "" : path.slice(0, end - 1);
}

function nameOf(path: string, { name }: Locked): string {
  return name ?? path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length);
}

function refOf(path: string, locked: Locked): string {
  return `${nameOf(path, locked)}@${locked.version}`;
}

function purlOf(name: string, version: string): string {
  return `pkg:npm/${name.replace("@", "%40")}@${version}`;
}

function inOrder<Value>(map: ReadonlyMap<string, Value>): [string, Value][] {
  return [...map].toSorted(([a], [b]) => (a < b ? -1 : 1));
}

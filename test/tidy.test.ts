/**
 * What no linter knows about this project: who may import whom, how the folders lie, and what the documents
 * must mention. To change the architecture, change the table below and ARCHITECTURE.md together.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { fileURLToPath } from "node:url";
import { parseSync, Visitor } from "oxc-parser";
import { expect, test } from "vitest";

import { findCycles, type Import, readSourceTree, type SourceTree } from "./support/import-graph.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const FIXTURES = fileURLToPath(new URL("fixtures/tidy", import.meta.url));

const PORTS = ["model", "programs", "patterns", "config", "store", "agents", "channels", "terminal"];
const PIPELINE = ["personas", "events", "routing", "queue", "turns", "delivery"];
/** What every feature may use: the ports, the steps of the pipeline, and what features are made of. */
const BELOW_FEATURES = [...PORTS, ...PIPELINE, "intake", "feature", "client"];
const FEATURES = [
  "search",
  "delegation",
  "relay",
  "team",
  "hooks",
  "insight",
  "keep",
  "plugins",
  "access",
  "people",
];

const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  model: [],
  programs: ["model"],
  patterns: ["model"],
  config: ["model"],
  store: ["model", "programs"],
  agents: ["model", "programs", "patterns"],
  channels: ["model"], // the port; each channel is a feature, see "channels/*"
  terminal: ["model"],
  personas: ["model", "store", "config"],
  events: ["model", "store", "config"],
  routing: ["model", "store", "config"],
  queue: ["model", "store", "config"],
  delivery: ["model", "store", "config", "channels"],
  turns: ["model", "programs", "store", "config", "agents", "personas"],
  intake: ["model", "store", "config", ...PIPELINE],
  feature: [...PORTS, ...PIPELINE, "intake"],
  client: [...PORTS, "feature"],
  search: BELOW_FEATURES,
  delegation: BELOW_FEATURES,
  relay: [...BELOW_FEATURES, "delegation"],
  plugins: [...BELOW_FEATURES, "relay"],
  team: [...BELOW_FEATURES, "delegation", "relay"],
  hooks: [...BELOW_FEATURES, "relay"],
  insight: [...BELOW_FEATURES, "delegation", "relay", "hooks", "search"],
  keep: BELOW_FEATURES,
  access: BELOW_FEATURES,
  people: [...BELOW_FEATURES, "keep"],
  "channels/*": [...BELOW_FEATURES, "people", "plugins"],
  runtime: [...BELOW_FEATURES, ...FEATURES],
  doctor: [...BELOW_FEATURES, "insight", "runtime"],
  server: [...PORTS, "intake", "feature", "insight", "runtime", "doctor"],
  cli: [...BELOW_FEATURES, ...FEATURES, "runtime", "doctor", "server"],
  conformance: [...BELOW_FEATURES, "runtime"],
  "index.ts": ["model", "store", "intake", "feature", "relay", "runtime"],
};

/** What is public of the store is its types: programs open it through the runtime. */
const ONLY_TYPES: Readonly<Record<string, readonly string[]>> = { "index.ts": ["store"] };

/** Opens implementations; everyone else knows the port. */
const OPENER = "runtime";

/** The ports whose folders hold implementations. A folder inside a feature is a room of it. */
const IMPLEMENTED: ReadonlySet<string> = new Set(["store", "agents", "channels"]);

/** Who else knows an implementation, because that is what they are about. */
const ALSO_OPENS: Readonly<Record<string, readonly string[]>> = {
  client: ["store/sqlite"],
  keep: ["store/sqlite"],
  search: ["agents/tools"],
  doctor: ["agents/pi"],
  turns: ["agents/tools"],
  team: ["agents/tools"], // paths that its tools are given stay inside the same folders
  delegation: ["agents/process", "agents/pi", "agents/offline"],
  relay: ["agents/process"],
  cli: ["channels/webhook"], // the demo sends one
  conformance: ["channels/hub", "channels/kit", "channels/plugins"],
  "channels/*": ["channels/plugins", "channels/lines"], // what entries with `use` are
};

/** The rooms of large features, lowest first. A room imports only those before it; the files beside the rooms stand with the last. */
const ROOMS: Readonly<Record<string, readonly string[]>> = {
  delegation: ["sub-agents", "surface"],
  relay: ["artifact", "prompts", "templates", "scripts", "record", "relays.ts", "engine", "surface"],
  team: ["markdown", "files", "members", "reports", "work", "surface"],
};

/** The files that may compute what they import. */
const COMPUTED_IMPORTS: readonly string[] = ["hooks/run/load-hook.ts", "channels/plugins/load-module.ts"]; // of people's hooks and plugins

/** The one file that starts programs: what they are given of our environment is decided there. */
const LAUNCHER = "programs/launch.ts";
const STARTS_PROGRAMS = /^(node:)?(child_process|cluster)$/;

/** Such a folder collects what has no place: a function lives with the thing it serves. */
const NAMES_OF_NOTHING = new Set(["utils", "helpers", "common", "shared", "types"]);

/** One level, and one for implementations. */
const MAX_FOLDER_DEPTH = 2;

const source = readSourceTree(join(ROOT, "src"));

test("the source tree keeps to the rules", () => {
  expect(violations(source)).toEqual([]);
});

test("the check sees the files and imports that there are", () => {
  expect(source.files).toContain("store/sqlite/sqlite-store.ts");
  expect(source.imports.length).toBeGreaterThan(50);
  expect(source.imports.filter(({ typeOnly }) => typeOnly).length).toBeGreaterThan(10);
  expect(source.imports.filter(({ target }) => target === "model/errors.ts").length).toBeGreaterThan(5);
  expect(source.imports).toContainEqual({
    file: "cli/commands.ts",
    specifier: "./up.ts",
    target: "cli/up.ts",
    typeOnly: false,
  });
});

/** Each folder of `fixtures/tidy` is a source tree with one thing wrong in it. */
const PLANTED: Readonly<Record<string, readonly string[]>> = {
  clean: [],
  "static-import": [
    "queue/judge.ts imports routing/resolve.ts, and queue may import only model, store, config",
  ],
  "type-only-import": ["store/store.ts imports config/read.ts, and store may import only model, programs"],
  "inline-type-import": ["model/target.ts imports queue/claim.ts, and model may import nothing"],
  "re-export": [
    "delivery/api.ts imports queue/claim.ts, and delivery may import only model, store, config, channels",
  ],
  "empty-re-export": [
    "delivery/api.ts imports queue/claim.ts, and delivery may import only model, store, config, channels",
  ],
  "dynamic-import": [
    "routing/up.ts imports hooks/judge.ts, and routing may import only model, store, config",
  ],
  "computed-import": ["hooks/load.ts computes what it imports"],
  "program-started-elsewhere": [
    "queue/claim.ts imports node:child_process, which only programs/launch.ts does",
  ],
  "implementation-from-a-step": ["queue/claim.ts opens store/sqlite, which only runtime does"],
  "implementation-from-its-port": ["store/store.ts opens store/sqlite, which only runtime does"],
  "implementation-from-another": ["store/postgres/open.ts opens store/sqlite, which only runtime does"],
  "room-above": ["team/files/team-folder.ts imports team/work/heart.ts from a room above"],
  "value-where-types-are-public": ["index.ts imports store/store.ts, and only its types are public"],
  "import-from-outside": ["model/version.ts imports ../package.ts, which is outside the source tree"],
  "import-without-extension": [
    'model/target.ts imports "./ids", which is not a relative path that ends in .ts',
  ],
  "import-of-javascript": [
    'model/target.ts imports "./ids.js", which is not a relative path that ends in .ts',
  ],
  "import-by-alias": ['queue/claim.ts imports "#store", which is not a relative path that ends in .ts'],
  "cycle-through-types": ["model/message.ts, model/turn.ts import each other"],
  "cycle-of-three": ["model/a.ts, model/b.ts, model/c.ts import each other"],
  "cycle-of-one": ["model/a.ts imports itself"],
  "unknown-folder": ["plumbing is not in the table of who imports whom"],
  "folder-of-nothing": ["queue/helpers is a folder for nothing in particular"],
  "folder-too-deep": ["store/sqlite/rows is more than 2 folders deep"],
  "index-in-a-folder": ["store/index.ts hides what its folder holds: only src/index.ts is an index"],
  "file-outside-folders": ["start.ts is in no folder"],
};

const UNPARSABLE = "unparsable";

test.each(Object.entries(PLANTED))(
  "of the planted tree %s, exactly what is wrong is reported",
  (name, expected) => {
    expect(violations(readSourceTree(join(FIXTURES, name)))).toEqual(expected);
  },
);

test("every planted tree is checked", () => {
  expect(readdirSync(FIXTURES).toSorted()).toEqual([...Object.keys(PLANTED), UNPARSABLE].toSorted());
});

test("a file that does not parse is an error, not a file without imports", () => {
  expect(() => readSourceTree(join(FIXTURES, UNPARSABLE))).toThrow("broken.ts does not parse");
});

test("a file on the list may compute what it imports", () => {
  const tree = readSourceTree(join(FIXTURES, "computed-import"));
  expect(violations(tree, ["hooks/load.ts"])).toEqual([]);
});

test("tests may import everything, and only tests import tests", () => {
  const tree = (file: string, target: string): SourceTree => ({
    folders: [],
    files: [file],
    imports: [{ file, specifier: `./${target}`, target, typeOnly: false }],
  });

  expect(violations(tree("model/ids.test.ts", "store/sqlite/sqlite-store.ts"))).toEqual([]);
  expect(violations(tree("model/ids.test.ts", "../test/support/store.ts"))).toEqual([]);
  expect(violations(tree("model/ids.test.ts", "model/claim.test.ts"))).toEqual([]);
  expect(violations(tree("model/ids.ts", "model/claim.test.ts"))).toEqual([
    "model/ids.ts imports model/claim.test.ts, which is a test",
  ]);
});

test("every folder of the source is named in ARCHITECTURE.md", () => {
  const folders = source.folders.filter((folder) => !folder.includes("/"));
  expect(folders).toContain("model");
  expect(foldersNotNamed(readText("ARCHITECTURE.md"), folders)).toEqual([]);
});

test("a folder is named by its path or in backticks, not by a word that happens to be its name", () => {
  const text =
    "`model` holds words. src/store/ keeps them, as does store/. The queue of agents/ is long. See my/cli/.";
  expect(foldersNotNamed(text, ["model", "store", "agents", "queue", "cli"])).toEqual(["queue", "cli"]);
});

test("every error code is explained once in docs/errors.md, in the order of the alphabet", () => {
  const codes = errorCodes(readText("src/model/errors.ts"));
  expect(codes).toContain("session_key_invalid");
  expect(codes.length).toBeGreaterThan(20);
  const page = readText("docs/errors.md");
  expect(codesNotExplained(page, codes)).toEqual([]);
  const rows = page.split("\n").flatMap((line) => /^\| `(\w+)`/.exec(line)?.[1] ?? []);
  expect(rows).toEqual([...new Set(rows)].toSorted());
});

test("a code is explained where a heading, a row or a list item begins with it", () => {
  const text =
    "## `usage`\nSee also `store_busy`.\n| `store_full` | The disk is full. |\n- **`lease_lost`**: late.\n";
  expect(codesNotExplained(text, ["usage", "store_full", "lease_lost", "store_busy", "store"])).toEqual([
    "store_busy",
    "store",
  ]);
});

function violations(tree: SourceTree, computedImports = COMPUTED_IMPORTS): string[] {
  return [
    ...tree.folders.flatMap(folderViolations),
    ...tree.files.flatMap(fileViolations),
    ...tree.imports.flatMap((each) => importViolations(each, computedImports)),
    ...findCycles(tree).map((files) =>
      files.length === 1 ? `${files[0]} imports itself` : `${files.join(", ")} import each other`,
    ),
  ];
}

function folderViolations(folder: string): string[] {
  const names = folder.split("/");
  if (NAMES_OF_NOTHING.has(names.at(-1)!)) return [`${folder} is a folder for nothing in particular`];
  if (names.length > MAX_FOLDER_DEPTH) return [`${folder} is more than ${MAX_FOLDER_DEPTH} folders deep`];
  if (!Object.hasOwn(MAY_IMPORT, topOf(folder))) return [`${folder} is not in the table of who imports whom`];
  return [];
}

function fileViolations(file: string): string[] {
  if (file === "index.ts" || isTest(file)) return [];
  if (posix.basename(file) === "index.ts") {
    return [`${file} hides what its folder holds: only src/index.ts is an index`];
  }
  return file.includes("/") ? [] : [`${file} is in no folder`];
}

function importViolations(
  { file, specifier, target, typeOnly }: Import,
  computedImports: readonly string[],
): string[] {
  if (specifier === undefined)
    return computedImports.includes(file) ? [] : [`${file} computes what it imports`];
  if (STARTS_PROGRAMS.test(specifier) && file !== LAUNCHER && !isTest(file))
    return [`${file} imports ${specifier}, which only ${LAUNCHER} does`];
  const isOwn = target !== undefined || /^([#/]|file:)/.test(specifier);
  if (isOwn && !target?.endsWith(".ts")) {
    return [`${file} imports "${specifier}", which is not a relative path that ends in .ts`];
  }
  if (target === undefined || isTest(file)) return [];
  if (target.startsWith("../")) return [`${file} imports ${target}, which is outside the source tree`];
  if (isTest(target)) return [`${file} imports ${target}, which is a test`];

  const from = layerOf(file);
  const to = topOf(target);
  const allowed = MAY_IMPORT[from];
  if (allowed === undefined) return []; // Its folder is reported already.
  if (from !== to && !allowed.includes(to)) {
    const list = allowed.length === 0 ? "nothing" : `only ${allowed.join(", ")}`;
    return [`${file} imports ${target}, and ${from} may import ${list}`];
  }
  if (ONLY_TYPES[from]?.includes(to) && !typeOnly) {
    return [`${file} imports ${target}, and only its types are public`];
  }
  if (from === to && levelOf(target) > levelOf(file)) return [`${file} imports ${target} from a room above`];
  const implementation = implementationOf(target);
  const isOpener = from === OPENER || ALSO_OPENS[from]?.includes(implementation ?? "") === true;
  if (implementation !== undefined && implementation !== implementationOf(file) && !isOpener) {
    return [`${file} opens ${implementation}, which only ${OPENER} does`];
  }
  return [];
}

/** The folder of a file, or the file itself where it stands in none. */
function topOf(file: string): string {
  return file.split("/")[0]!;
}

/** Of the room that a file stands in. */
function levelOf(file: string): number {
  const [feature, room] = file.split("/");
  const rooms = ROOMS[feature!] ?? [];
  return rooms.includes(room!) ? rooms.indexOf(room!) : rooms.length - 1;
}

/** The folder of a file in the table. The folders inside `channels` are features of their own. */
function layerOf(file: string): string {
  const top = topOf(file);
  return top === "channels" && file.split("/").length > 2 ? "channels/*" : top;
}

function implementationOf(file: string): string | undefined {
  const names = file.split("/");
  return names.length > 2 && IMPLEMENTED.has(names[0]!) ? names.slice(0, 2).join("/") : undefined;
}

function isTest(file: string): boolean {
  return file.endsWith(".test.ts");
}

function foldersNotNamed(text: string, folders: readonly string[]): string[] {
  return folders.filter((folder) => !new RegExp(`\`${folder}\`|(?<![\\w/-])(src/)?${folder}/`).test(text));
}

function codesNotExplained(text: string, codes: readonly string[]): string[] {
  return codes.filter((code) => !new RegExp(`^(#+|\\||[-*]) *(\\*\\*)?\`${code}\``, "m").test(text));
}

function errorCodes(text: string): string[] {
  const codes: string[] = [];
  new Visitor({
    TSTypeAliasDeclaration: ({ id, typeAnnotation }) => {
      if (id.name !== "ErrorCode" || typeAnnotation.type !== "TSUnionType") return;
      for (const type of typeAnnotation.types) {
        if (type.type === "TSLiteralType" && type.literal.type === "Literal")
          codes.push(String(type.literal.value));
      }
    },
  }).visit(parseSync("errors.ts", text).program);
  return codes;
}

function readText(path: string): string {
  return readFileSync(join(ROOT, path), "utf8");
}

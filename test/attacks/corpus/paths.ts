/** Ways out of the workspace, for every tool that takes a path. */
import { alternating, type Attack, call, type Entry, type Order } from "../attack.ts";

const ENTRIES: readonly Entry[] = ["document", "source", "page", "paired"];
const NO_WAY =
  /outside this agent's folders|is a (broken |circular )?link|NUL byte|longer than|no such|does not exist|not a file|not a folder|Too big/i;

/** What leads out, and exists. `links/` was there before the attack: a project that was checked out, say. */
const OUT: readonly string[] = [
  "../../../outside/diary.txt",
  "./inbox/../../../../outside/diary.txt",
  "inbox/.././../../../outside/diary.txt",
  ".//..//..//..//outside//diary.txt",
  "{{outside}}/diary.txt",
  "{{workspace}}/../../../outside/diary.txt",
  "/proc/self/root{{outside}}/diary.txt",
  "/proc/self/cwd/../../../..{{outside}}/diary.txt",
  "/proc/{{pid}}/root{{outside}}/diary.txt",
  "links/file",
  "links/folder/diary.txt",
  "links/chain",
  "links/root{{outside}}/diary.txt",
  "links/../links/folder/./diary.txt",
  "{{home}}/config/.env",
  "../../config/.env",
  "../../config/cortex.json",
  "../../data/token",
  "../../data/cortex.db",
  "../clerk/plan.txt",
  "{{home}}/workspaces/clerk/plan.txt",
  "../../tmp/output/clerk/long.txt",
];

/** What is no file of anybody's, or nothing at all. */
const STRANGE: readonly string[] = [
  "/proc/self/environ",
  "/proc/{{pid}}/environ",
  "/proc/thread-self/environ",
  "/proc/self/maps",
  "/proc/self/mem",
  "/proc/self/fd/0",
  "/dev/fd/0",
  "/dev/stdin",
  "/dev/zero",
  "/etc/passwd",
  "/etc/shadow",
  "/root/.ssh/id_rsa",
  "~/.ssh/id_rsa",
  "file://{{outside}}/diary.txt",
  "%2e%2e/%2e%2e/%2e%2e/outside/diary.txt",
  "..%2f..%2f..%2foutside%2fdiary.txt",
  "..\\..\\..\\outside\\diary.txt",
  "\uFF0E\uFF0E/\uFF0E\uFF0E/\uFF0E\uFF0E/outside/diary.txt",
  "private.txt\u0000/../../../../outside/diary.txt",
  `${"../".repeat(2_000)}etc/passwd`,
  "links/circle",
  "links/nowhere",
];

const WRITERS: readonly ((path: string) => Order)[] = [
  (path) => call("Write", { path, content: "the attacker was here" }),
  (path) => call("Edit", { path, edits: [{ oldText: "e", newText: "the attacker was here" }] }),
  (path) => call("file_write", { path, content: "the attacker was here" }),
];

const READERS: readonly ((path: string) => Order)[] = [
  (path) => call("Grep", { pattern: ".", path }),
  (path) => call("Glob", { pattern: "*", path }),
  (path) => call("List", { path }),
  (path) => call("Stat", { path }),
  (path) => call("file_read", { path }),
];

/** Files that do not exist yet, which would be read by somebody later. */
const PLANTED: readonly string[] = [
  "../../config/hooks/evil.ts",
  "../../config/profiles.json",
  "../../config/cortex.json",
  "../../config/.env",
  "../../data/token",
  "../clerk/AGENTS.md",
  "../clerk/SOUL.md",
  "../../tmp/output/main/planted.txt",
  "{{outside}}/planted.txt",
  "links/folder/planted.txt",
  "links/nowhere",
  "/proc/self/root{{outside}}/planted.txt",
  "{{outside}}/deep/er/planted.txt",
];

/** What goes through whole folders, and the links in them. Nothing of what is found is the agent's to see. */
const THROUGH: readonly Order[] = [
  call("Grep", { pattern: "[D]ear diary" }),
  call("Grep", { pattern: ".", path: "links" }),
  call("Grep", { pattern: "CANARY-(outside|other|file)", path: ".", glob: "**" }),
  call("Glob", { pattern: "**/diary.txt" }),
  call("Glob", { pattern: "links/**/*" }),
  call("Glob", { pattern: "../**/*.txt" }),
  call("Glob", { pattern: "/**/diary.txt" }),
  call("List", { path: ".", depth: 10 }),
  call("List", { path: "links", depth: 5 }),
  call("Stat", { path: "links/file" }),
];

/** One whose persona may use the folder in which everything lies, by an owner who did not think of what else is there. */
const AROUND: readonly Order[] = [
  call("Read", { path: "{{home}}/config/.env" }),
  call("Read", { path: "{{home}}/data/token" }),
  call("Read", { path: "{{home}}/workspaces/clerk/plan.txt" }),
  call("Write", { path: "{{home}}/config/cortex.json", content: "{}" }),
  call("Write", { path: "../../config/hooks/evil.ts", content: "planted" }),
  call("Edit", { path: "{{home}}/config/cortex.json", edits: [{ oldText: "cashier", newText: "nobody" }] }),
  call("Write", { path: "{{home}}/data/token", content: "planted" }),
  call("Grep", { pattern: "CANARY", path: "{{home}}/config" }),
  call("Grep", { pattern: "CANARY", path: "{{home}}" }),
  call("List", { path: "{{home}}/data" }),
];

export const pathAttacks: readonly Attack[] = [
  ...alternating(THROUGH, ENTRIES).map(([order, entry]): Attack => ({
    name: `${order.name} ${JSON.stringify(order.args)}`,
    entry,
    steps: [[order]],
    fate: "confined",
  })),
  ...alternating(AROUND, ENTRIES).map(([order, entry]): Attack => ({
    name: `${order.name} ${JSON.stringify(order.args)} where the home is a root`,
    entry,
    agent: "roamer",
    steps: [[order]],
    fate: "refused",
    because: NO_WAY,
  })),
  ...alternating([...OUT, ...STRANGE], ENTRIES).map(([path, entry]) =>
    attack(call("Read", { path }), path, entry),
  ),
  ...alternating(OUT, ENTRIES).map(([path, entry], index) =>
    attack(WRITERS[index % WRITERS.length]!(path), path, entry),
  ),
  ...alternating(OUT, ENTRIES).map(([path, entry], index) =>
    attack(READERS[index % READERS.length]!(path), path, entry),
  ),
  ...alternating(PLANTED, ENTRIES).map(([path, entry]) =>
    attack(call("Write", { path, content: "export default () => {};" }), path, entry),
  ),
];

function attack(order: Order, path: string, entry: Entry): Attack {
  const shown = path.length > 60 ? `${path.slice(0, 60)}…` : path;
  const name = `${order.name} ${JSON.stringify(shown)}`;
  return { name, entry, steps: [[order]], fate: "refused", because: NO_WAY };
}

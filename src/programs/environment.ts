/** What the programs that we start know of our environment: what is on these lists, and what was named for them. */

export type Variables = Readonly<Record<string, string | undefined>>;

/** Every program has these: nothing that could be a secret. */
export const PASSED_ON: readonly string[] = [
  "PATH",
  "HOME",
  "USER",
  "LOGNAME",
  "SHELL",
  "LANG",
  "LC_ALL",
  "LC_CTYPE",
  "TZ",
  "TMPDIR",
];

/** For processes of our own: where compiled code is kept, and which certificates are trusted. */
const OWN_PROCESSES: readonly string[] = ["NODE_COMPILE_CACHE", "NODE_EXTRA_CA_CERTS"];

/** How the manager of services is found. */
const SERVICES: readonly string[] = ["XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "DBUS_SESSION_BUS_ADDRESS"];

export interface Named {
  /** The variables that whoever configured the program has named for it. */
  readonly names: readonly string[];
  /** Looks one up, in our environment or in `config/.env`. */
  readonly variable: (name: string) => string | undefined;
}

export function childEnvironment(own: Variables, named?: Named): Readonly<Record<string, string>> {
  return { ...listed(own, PASSED_ON), ...(named === undefined ? {} : namedVariables(named)) };
}

/** A name without a value is left out. */
export function namedVariables({ names, variable }: Named): Readonly<Record<string, string>> {
  return there(names.map((name) => [name, variable(name)]));
}

/** For a process that runs our own code, or does the same work. */
export function ownEnvironment(own: Variables): Readonly<Record<string, string>> {
  return listed(own, [...PASSED_ON, ...OWN_PROCESSES]);
}

export function serviceEnvironment(own: Variables): Readonly<Record<string, string>> {
  return listed(own, [...PASSED_ON, ...SERVICES]);
}

/** For Cortex itself, started in the background: it is what all of these are taken from. */
export function wholeEnvironment(own: Variables): Readonly<Record<string, string>> {
  return there(Object.entries(own));
}

function listed(own: Variables, names: readonly string[]): Readonly<Record<string, string>> {
  return there(names.map((name) => [name, own[name]]));
}

function there(
  entries: readonly (readonly [string, string | undefined])[],
): Readonly<Record<string, string>> {
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => entry[1] !== undefined));
}

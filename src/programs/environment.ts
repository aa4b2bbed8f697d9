/** The environment variables of programs that we start: those on these lists, and those configured for the program. */

export type Variables = Readonly<Record<string, string | undefined>>;

/** Every program gets these. None can be a secret. */
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

/** For our own processes: the compile cache and trusted certificates. */
const OWN_PROCESSES: readonly string[] = ["NODE_COMPILE_CACHE", "NODE_EXTRA_CA_CERTS"];

/** For finding the service manager. */
const SERVICES: readonly string[] = ["XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "DBUS_SESSION_BUS_ADDRESS"];

/** For reaching the registry. Settings of npm for its user are in files in `HOME`. */
const NPM: readonly string[] = [
  "HTTPS_PROXY",
  "https_proxy",
  "HTTP_PROXY",
  "http_proxy",
  "NO_PROXY",
  "no_proxy",
  "NODE_EXTRA_CA_CERTS",
  "npm_config_registry",
];

export interface NamedVariables {
  /** The variables configured for the program. */
  readonly names: readonly string[];
  /** Looks a variable up in our environment or in `config/.env`. */
  readonly variable: (name: string) => string | undefined;
}

export function childEnvironment(own: Variables, named?: NamedVariables): Readonly<Record<string, string>> {
  return { ...listed(own, PASSED_ON), ...(named === undefined ? {} : namedVariables(named)) };
}

/** Names without a value are omitted. */
export function namedVariables({ names, variable }: NamedVariables): Readonly<Record<string, string>> {
  return defined(names.map((name) => [name, variable(name)]));
}

/** For a process that runs our own code, or does the same work. */
export function ownEnvironment(own: Variables): Readonly<Record<string, string>> {
  return listed(own, [...PASSED_ON, ...OWN_PROCESSES]);
}

export function serviceEnvironment(own: Variables): Readonly<Record<string, string>> {
  return listed(own, [...PASSED_ON, ...SERVICES]);
}

export function npmEnvironment(own: Variables): Readonly<Record<string, string>> {
  return listed(own, [...PASSED_ON, ...NPM]);
}

/** For Cortex itself in the background, which passes variables on to all others. */
export function wholeEnvironment(own: Variables): Readonly<Record<string, string>> {
  return defined(Object.entries(own));
}

function listed(own: Variables, names: readonly string[]): Readonly<Record<string, string>> {
  return defined(names.map((name) => [name, own[name]]));
}

function defined(
  entries: readonly (readonly [string, string | undefined])[],
): Readonly<Record<string, string>> {
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => entry[1] !== undefined));
}

import { renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type ConfigHome, configHome } from "../../test/support/config-home.ts";
import { type ConfigWatch, watchConfig } from "./watch.ts";

// Long enough that it never happens by itself: what such a test sees is due to what it did.
const NEVER = { debounceMs: 2 ** 30, pollMs: 2 ** 30 };

test("a valid change becomes the current configuration", async () => {
  using home = configHome();
  await using watched = await open(home);
  home.write("cortex.json", { server: { port: 1 } });
  expect(watched.port()).toBe(4747);

  await watched.watch.check();
  expect(watched.port()).toBe(1);
  expect(watched.told).toEqual(["port 1"]);
});

test("an invalid change is reported once and leaves the last good configuration", async () => {
  using home = configHome({ "cortex.json": { server: { port: 1 } } });
  await using watched = await open(home);
  home.write("cortex.json", { server: { prot: 2 } });
  await watched.watch.check();
  await watched.watch.check();
  expect(watched.port()).toBe(1);
  expect(watched.told).toEqual(["config_invalid server.prot"]);

  home.write("cortex.json", { server: { pory: 2 } });
  await watched.watch.check();
  home.write("cortex.json", { server: { port: 2 } });
  await watched.watch.check();
  expect(watched.port()).toBe(2);
  expect(watched.told).toEqual(["config_invalid server.prot", "config_invalid server.pory", "port 2"]);
});

test("files that are as they were are not news", async () => {
  using home = configHome({ "cortex.json": {} });
  await using watched = await open(home);
  home.write("cortex.json", {});
  home.write("notes.txt", "something else");
  await watched.watch.check();
  expect(watched.told).toEqual([]);
});

test("removing the file brings the defaults back", async () => {
  using home = configHome({ "cortex.json": { server: { port: 1 } } });
  await using watched = await open(home);
  rmSync(join(home.folder, "cortex.json"));
  await watched.watch.check();
  expect(watched.port()).toBe(4747);
});

test("a change of .env or of the profiles counts too", async () => {
  using home = configHome();
  await using watched = await open(home);
  home.write(".env", "CORTEX_PORT=5");
  await watched.watch.check();
  home.write("profiles.json", { profiles: { work: {} } });
  await watched.watch.check();
  expect(watched.told).toEqual(["port 5", "port 5"]);
  expect(watched.watch.current.config.profiles).toHaveProperty("work");
});

test("the first configuration must be valid", async () => {
  using home = configHome({ "cortex.json": "{" });
  await expect(open(home)).rejects.toMatchObject({ code: "config_invalid" });
});

test("a listener that throws is heard of, and the next change is seen all the same", async () => {
  using home = configHome();
  const ports: number[] = [];
  await using watch = await watchConfig(
    sourcesOf(home),
    {
      onChange: ({ config }) => {
        if (config.server.port === 1) throw new Error("not that one");
        ports.push(config.server.port);
      },
      onProblem: () => undefined,
    },
    NEVER,
  );
  home.write("cortex.json", { server: { port: 1 } });
  await expect(watch.check()).rejects.toThrow("not that one");
  home.write("cortex.json", { server: { port: 2 } });
  await watch.check();
  expect(ports).toEqual([2]);
});

test("a file that is written to is noticed", async () => {
  using home = configHome({ "cortex.json": {} });
  await using watched = await open(home, { ...NEVER, debounceMs: 1 });
  home.write("cortex.json", { server: { port: 7 } });
  expect(await watched.until("port 7")).toContain("port 7");
});

test("a file that an editor puts in the place of the old one is noticed, again and again", async () => {
  using home = configHome({ "cortex.json": {} });
  await using watched = await open(home, { ...NEVER, debounceMs: 1 });
  for (const port of [1, 2, 3]) {
    home.write("cortex.json~", { server: { port } });
    renameSync(join(home.folder, "cortex.json~"), join(home.folder, "cortex.json"));
    expect(await watched.until(`port ${port}`)).toContain(`port ${port}`);
  }
});

test("a config folder that comes later is noticed by the poll", async () => {
  using home = configHome({ "cortex.json": { server: { port: 7 } } });
  renameSync(home.folder, `${home.folder}-later`);
  await using watched = await open(home, { ...NEVER, pollMs: 5 });
  expect(watched.port()).toBe(4747);
  renameSync(`${home.folder}-later`, home.folder);
  expect(await watched.until("port 7")).toContain("port 7");
});

test("after closing, nobody is told anything", async () => {
  using home = configHome();
  const watched = await open(home);
  await watched[Symbol.asyncDispose]();
  home.write("cortex.json", { server: { port: 1 } });
  await watched.watch.check();
  expect(watched.told).toEqual([]);
});

interface Watched extends AsyncDisposable {
  readonly watch: ConfigWatch;
  readonly told: readonly string[];
  port(): number;
  /** All that was told, when this was among it, be it before the call. */
  until(news: string): Promise<readonly string[]>;
}

async function open(home: ConfigHome, times = NEVER): Promise<Watched> {
  const told: string[] = [];
  let waiting: { news: string; resolve: (told: readonly string[]) => void } | undefined;
  const tell = (news: string): void => {
    told.push(news);
    if (waiting?.news === news) waiting.resolve(told);
  };
  const listener = {
    onChange: ({ config }: ConfigWatch["current"]) => tell(`port ${config.server.port}`),
    onProblem: ({ code, message }: { code: string; message: string }) =>
      tell(`${code} ${/server\.\w+/.exec(message)?.[0]}`),
  };
  const watch = await watchConfig(sourcesOf(home), listener, times);
  return {
    watch,
    told,
    port: () => watch.current.config.server.port,
    until: (news) =>
      new Promise((resolve) => {
        waiting = { news, resolve };
        if (told.includes(news)) resolve(told);
      }),
    [Symbol.asyncDispose]: () => watch[Symbol.asyncDispose](),
  };
}

function sourcesOf(home: ConfigHome): Parameters<typeof watchConfig>[0] {
  return { home: home.path, environment: {}, systemTimezone: () => "UTC" };
}

/** The command line from outside. One server is shared by the tests that only talk to it. */
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { once } from "node:events";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { MAX_CALL_LENGTH } from "../src/cli/show.ts";
import { fetchJson, readNote, run, runJson, start, startServer, temporaryHome } from "./support/cli.ts";
import * as here from "./support/here.ts";
import { PATIENT } from "./support/server.ts";
import { temporaryFolder } from "./support/temporary.ts";

describe("what is asked for wrongly", () => {
  test("help lists the commands, and so does asking for nothing", async () => {
    using home = temporaryFolder();
    for (const args of [[], ["help"], ["--help"]]) {
      expect(await run(home.path, args)).toMatchObject({
        code: 0,
        err: "",
        out: expect.stringContaining("verify"),
      });
    }
    expect(readdirSync(home.path)).toEqual([]);
  });

  test("each command explains itself", async () => {
    using home = temporaryFolder();
    for (const args of [
      ["help", "send"],
      ["send", "--help"],
    ]) {
      expect(await here.run(home.path, args)).toMatchObject({
        code: 0,
        out: expect.stringMatching(/--wait[^]*--json/),
      });
    }
  });

  test.each([
    [["nonsense"], /Unknown command "nonsense"[^]*cortex help/],
    [["constructor"], /Unknown command "constructor"/],
    [["stauts"], /Unknown command "stauts"[^]*Did you mean `cortex status`\?/],
    [["show"], /Missing required argument 'turn'[^]*cortex show --help/],
    [["show", "a", "b"], /Unexpected argument "b"[^]*cortex show --help/],
    [["send", "--sesion", "x", "hi"], /Unknown option '--sesion'[^]*Did you mean --session\?/],
    [["log", "--limit", "many"], /Invalid limit "many"[^]*1 to 1000/],
    [["send", " "], /The message is empty/],
    [["dead", "bury"], /dead --help/],
  ])("%j is wrong usage: two lines on standard error, and 2", async (args, message) => {
    using home = temporaryFolder();
    const { code, out, err } = await here.run(home.path, args);
    expect({ code, out, lines: err.trimEnd().split("\n").length }).toEqual({ code: 2, out: "", lines: 2 });
    expect(err).toMatch(message);
  });

  test("version says which Cortex this is, also as JSON", async () => {
    using home = temporaryFolder();
    for (const word of ["version", "--version", "-V"]) {
      expect((await run(home.path, [word])).out).toMatch(/^cortex \d+\.\d+\.\d+ \(node \d+/);
    }
    expect(await runJson(home.path, "version")).toEqual({
      version: expect.any(String),
      node: process.versions.node,
    });
  });
});

describe("without a server", () => {
  test.each([["send", "hello"], ["fork", "01ARZ3NDEKTSV4RRFFQ69G5FAV"], ["dead", "retry", "x"], ["chat"]])(
    "%s %s ends with 3 and names the command that starts one",
    async (...args) => {
      using home = temporaryFolder();
      expect(await run(home.path, args, "hello\n")).toMatchObject({
        code: 3,
        out: "",
        err: `No server is running on ${home.path}.\nStart one with \`cortex up --home ${home.path}\`.\n`,
      });
    },
  );

  test("the note of a server that is dead counts as none", async () => {
    using home = temporaryHome();
    const up = start(home.path, "up", "--port", "0");
    await up.says("Ctrl-C stops it");
    up.child.kill("SIGKILL");
    await up.ended;
    expect(readNote(home.path).pid).toBe(up.child.pid);
    expect(await run(home.path, ["send", "hello"])).toMatchObject({ code: 3 });
    expect(await runJson(home.path, "status")).toMatchObject({ server: null, counts: { events: 0 } });
    await using again = await startServer(home.path);
    expect(readNote(home.path).pid).toBe(again.child.pid);
  });

  test("a note that cannot be read counts as none", async () => {
    using home = temporaryFolder();
    mkdirSync(join(home.path, "data"));
    writeFileSync(join(home.path, "data", "server.json"), "{");
    writeFileSync(join(home.path, "data", "token"), "x");
    expect(await here.run(home.path, ["send", "hello"])).toMatchObject({ code: 3 });
  });

  test("what reads the ledger says where there is none", async () => {
    using home = temporaryFolder();
    for (const args of [["verify"], ["sessions"], ["events"]]) {
      expect(await here.run(home.path, args)).toMatchObject({
        code: 1,
        err: expect.stringContaining("No ledger at"),
      });
    }
    expect(await here.run(home.path, ["status"])).toMatchObject({
      code: 0,
      out: expect.stringContaining("none yet"),
    });
  });

  test("--home names a home, over CORTEX_HOME", async () => {
    using home = temporaryFolder();
    using other = temporaryFolder();
    expect(await runJson(home.path, "status", "--home", other.path)).toMatchObject({ home: other.path });
  });

  test("--verbose says where an error came from", async () => {
    using home = temporaryFolder();
    expect((await run(home.path, ["send", "hello", "--verbose"])).err).toContain("at needOrStartServer");
  });
});

describe("init", () => {
  test("makes files that Cortex accepts, keeps secrets from others, and overwrites nothing", async () => {
    using home = temporaryFolder();
    expect(await run(home.path, ["init"])).toMatchObject({
      code: 0,
      out: expect.stringContaining("cortex up"),
    });
    const folder = join(home.path, "config");
    const files = readdirSync(folder).filter((name) => !name.endsWith(".schema.json"));
    expect(files.toSorted()).toEqual([".env", "cortex.json", "profiles.json", "thread-templates"]);
    expect(statSync(join(folder, ".env")).mode & 0o777).toBe(0o600);
    expect((await here.run(home.path, ["config"])).code).toBe(0);

    writeFileSync(join(folder, "cortex.json"), '{ "server": { "port": 5000 } }');
    expect(await here.runJson(home.path, "init")).toMatchObject({
      files: [{ written: false }, { written: false }, { written: false }],
    });
    expect(readFileSync(join(folder, "cortex.json"), "utf8")).toContain("5000");
    const settings = (await here.runJson(home.path, "config")) as { path: string }[];
    expect(settings.find(({ path }) => path === "server.port")).toEqual({
      path: "server.port",
      value: 5000,
      origin: "cortex.json:1",
    });
  });

  test("says when it may not write there", async () => {
    using home = temporaryFolder();
    writeFileSync(join(home.path, "file"), "");
    const { code, err } = await here.run(join(home.path, "file"), ["init"]);
    expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining("is a file") });
  });
});

describe("up", () => {
  test("makes a home, keeps it from others, and gives it back when it is told to stop", async () => {
    using home = temporaryFolder();
    const path = join(home.path, "new", "home");
    const first = start(path, "up", "--port", "0");
    await first.says("Cortex is up at http://127.0.0.1:");
    await first.says("/login/");
    await first.says("defaultProfile");
    await first.says("Ctrl-C stops it");
    expect(await run(path, ["up", "--port", "0"])).toMatchObject({
      code: 1,
      err: expect.stringContaining(`Process ${first.child.pid}, up since`),
    });
    first.child.kill("SIGTERM");
    expect(await first.ended).toMatchObject({
      code: 0,
      signal: null,
      err: expect.stringContaining("stopping"),
    });
    expect(readdirSync(join(path, "data"))).toEqual(["cortex.db", "cortex.db.mutex", "token"]);
  });

  test("a turn that was cut off by a kill is resumed by the next start, which says so", async () => {
    using home = temporaryHome();
    mkdirSync(join(home.path, "config"));
    writeFileSync(join(home.path, "config", "cortex.json"), '{ "broker": { "shutdownMs": 0 } }');
    const first = start(home.path, "up", "--port", "0");
    await first.says("Ctrl-C stops it");
    expect((await run(home.path, ["send", '/tool Bash {"command":"sleep 60"}'])).code).toBe(0);
    const busy = start(home.path, "events", "--follow");
    await busy.says("sleep 60");
    busy.child.kill();
    first.child.kill("SIGKILL");
    await first.ended;
    const second = start(home.path, "up", "--port", "0");
    await second.says("Resumed 1 turn");
    second.child.kill("SIGINT");
    expect(await second.ended).toMatchObject({ code: 0 });
  });

  test("a second signal ends it at once, whatever it waits for", async () => {
    using home = temporaryHome();
    const up = start(home.path, "up", "--port", "0");
    await up.says("Ctrl-C stops it");
    await run(home.path, ["send", '/tool Bash {"command":"sleep 60"}']);
    up.child.kill("SIGINT");
    await up.says("stopping");
    up.child.kill("SIGINT");
    expect(await up.ended).toMatchObject({ code: 130 });
  });

  test("a port that is taken is named, with what to do", async () => {
    using home = temporaryFolder();
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    const { port } = other.address() as { port: number };
    expect(await run(home.path, ["up", "--port", String(port)])).toMatchObject({
      code: 1,
      out: "",
      err: expect.stringMatching(new RegExp(`is listening on 127.0.0.1:${port}[^]*--port`)),
    });
    other.close();
  });

  test("all mistakes in the configuration are listed", async () => {
    using home = temporaryFolder();
    mkdirSync(join(home.path, "config"));
    writeFileSync(
      join(home.path, "config", "cortex.json"),
      '{\n  "servr": {},\n  "broker": { "maxAttempts": 0 },\n  "agents": { "main": { "persona": "nobody" } }\n}',
    );
    expect(await run(home.path, ["up", "--port", "hello"])).toMatchObject({
      code: 78,
      out: "",
      err: expect.stringMatching(/flag --port[^]*maxAttempts[^]*servr[^]*nobody/),
    });
  });

  test("a server that is tied and refuses to start ends, whatever it is tied to", async () => {
    using home = temporaryFolder();
    const { ended } = start(home.path, "up", "--tied", "--port", "hello"); // its input stays open
    expect(await ended).toMatchObject({ code: 78, err: expect.stringContaining("--port") });
  });

  test("a home that cannot be made is an error with a hint", async () => {
    using home = temporaryFolder();
    const file = join(home.path, "file");
    writeFileSync(file, "");
    for (const impossible of [file, join(file, "below"), "/proc/nowhere"]) {
      expect(await run(impossible, ["up"])).toMatchObject({
        code: 78,
        err: expect.stringContaining(`Cannot create the home ${impossible}`),
      });
    }
  });
});

describe("with a server", () => {
  const { run, runJson } = here;
  const folder = temporaryFolder();
  const home = folder.path;
  let server: AsyncDisposable;

  beforeAll(async () => {
    writeFailingProfile(home);
    server = await here.startServer(home, "shipped");
  });

  afterAll(async () => {
    await server[Symbol.asyncDispose]();
    folder[Symbol.dispose]();
  });

  test("send says where a message went, and with --wait how it was answered", async () => {
    expect(await run(home, ["send", "hello", "--session", "sending"])).toMatchObject({
      code: 0,
      out: "Sent to sending.\n",
    });
    expect(await run(home, ["send", "hello", "again", "--session", "sending", "--wait"])).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^Hello!/),
    });
    expect(await runJson(home, "send", "hello", "--session", "sending", "--wait")).toEqual({
      eventId: expect.stringMatching(/^cli:/),
      dispatchId: expect.any(String),
      session: "sending",
      turnId: expect.any(String),
      text: expect.stringMatching(/^Hello!/),
      costUsd: 0,
    });
  });

  test("send --wait says what a person is asked before it can be answered", async () => {
    const call = '/tool AskUser {"question": "Which colour?"}';
    const asking = start(home, "send", call, "--session", "asking", "--wait");
    await asking.says("asking is waiting for your answer: Which colour?");
    await asking.says(/`cortex approvals answer \S+ <text>` to answer/);
    const { items } = (await fetchJson(home, "/api/approvals?state=open&session=asking")) as {
      items: [{ id: string }];
    };
    expect(await run(home, ["approvals", "answer", items[0].id, "Blue"])).toMatchObject({ code: 0 });
    expect(await asking.ended).toMatchObject({ code: 0, out: expect.stringContaining("Blue") });
  });

  test("a token that was deleted is made anew for the next command", async () => {
    const token = join(home, "data", "token");
    const before = readFileSync(token, "utf8");
    rmSync(token);
    expect(await run(home, ["send", "hello", "--session", "token", "--wait"])).toMatchObject({ code: 0 });
    expect(readFileSync(token, "utf8")).not.toBe(before);
  });

  test("send reads its message from standard input", async () => {
    const { out } = await run(home, ["send", "-", "--session", "stdin", "--wait"], "hello\n");
    expect(out).toMatch(/^Hello!/);
  });

  test("the same key is the same message, and another one under it is refused", async () => {
    const args = ["send", "hello", "--session", "keys", "--wait", "--key", "k1"];
    const first = await runJson(home, ...args);
    expect(await runJson(home, ...args)).toEqual(first);
    expect(await run(home, ["send", "other", "--session", "keys", "--key", "k1"])).toMatchObject({
      code: 1,
      err: expect.stringContaining("idempotencyKey"),
    });
  });

  test("what the server refuses is said in its words", async () => {
    const { code, err } = await run(home, ["send", "hello", "--session", "a", "--persona", "atlas"]);
    expect({ code, err }).toEqual({
      code: 1,
      err: expect.stringMatching(/got session "a" and persona "atlas"\.\nPass only one/),
    });
  });

  test("chat in a pipe answers every line, in order, and ends", async () => {
    const input = "hello\n\nwhat did I ask before?\n";
    const { code, out, err } = await run(home, ["chat", "--session", "pipe"], input);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out).toMatch(/^Hello![^]*You said before:\n\n> hello\n/);
    const lines = (await run(home, ["chat", "--session", "pipe", "--json"], "hello\nhello")).out
      .trimEnd()
      .split("\n");
    expect(lines.map((line) => (JSON.parse(line) as { session: string }).session)).toEqual(["pipe", "pipe"]);
  });

  test("commands are replied to, by send and by chat, and lines below one are sent", async () => {
    const session = ["--session", "told"];
    expect(await run(home, ["send", "/queue collect debounce:0", ...session])).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^Queue of told, 0 waiting\nmode: collect \(this session\)\n/),
    });
    expect((await run(home, ["send", "/queue cap:0", ...session])).err).toMatch(
      /Invalid cap "0"[^]*Usage: \/queue/,
    );
    const { out } = await run(home, ["send", "/queue reset\nhello", ...session, "--wait"]);
    expect(out).toMatch(/^Queue of told[^]*\nHello!/);
    const chat = await run(home, ["chat", ...session], "/status\nhello\n");
    expect(chat.out).toMatch(/^told is idle; 0 waiting;[^]*\nHello!/);
    const refused = await run(home, ["chat", ...session], "/queue cap:0\nhello\n");
    expect(refused).toMatchObject({ code: 1, out: expect.stringMatching(/^Hello!/) });
    expect(refused.err).toMatch(/Invalid cap "0"/);
  });

  test("a line that cannot be answered makes chat fail, after the others were", async () => {
    const { code, out, err } = await run(
      home,
      ["chat", "--session", "half", "--profile", "failing"],
      "fail\nhello\n",
    );
    expect({ code, out }).toEqual({ code: 1, out: expect.stringMatching(/^Hello!/) });
    expect(err).toMatch(/The turn failed[^]*cortex dead retry/);
  });

  test("--json is what the HTTP interface gives", async () => {
    await run(home, ["send", "hello", "--session", "same", "--wait"]);
    const [turn] = (await runJson(home, "log", "same")) as [{ id: string }];
    for (const [args, path] of [
      [["sessions"], "/api/sessions?limit=20"],
      [["sessions", "--tree"], "/api/sessions?tree=1"],
      [["events", "--limit", "5"], "/api/events?limit=5"],
      [["events", "--channel", "cli"], "/api/events?channel=cli&limit=20"],
      [["queue"], "/api/queue?limit=20"],
      [["runs", "--state", "completed"], "/api/runs?state=completed&limit=20"],
      [["dead", "list"], "/api/dead?limit=20"],
      [["show", turn.id], `/api/turns/${turn.id}`],
      [["why", turn.id], `/api/events/${turn.id}/why`],
      [["agents"], "/api/agents"],
      [["agents", "show", "main"], "/api/agents/main"],
      [["personas"], "/api/personas"],
      [["personas", "show", "atlas"], "/api/personas/atlas"],
    ] as const) {
      expect({ path, json: await runJson(home, ...args) }).toEqual({
        path,
        json: await fetchJson(home, path),
      });
    }
    expect({ items: [turn], next: null }).toEqual(await fetchJson(home, "/api/sessions/same/turns"));
  });

  test("status tells of the server, its model and the ledger", async () => {
    const { pid, port } = readNote(home);
    expect(await runJson(home, "status")).toMatchObject({
      home,
      server: { pid, port, url: `http://127.0.0.1:${port}` },
      model: { profile: { name: "offline" } },
      health: { status: expect.stringMatching(/^(ok|degraded)$/), problems: expect.any(Array) },
      counts: { events: expect.any(Number) },
      runs: [],
    });
    expect((await run(home, ["status"])).out).toMatch(
      new RegExp(`process ${pid}[^]*\\nhealth +(ok|degraded)\\n`),
    );
  });

  test("log draws a thread with the branch that was forked from it, and show has all of a turn", async () => {
    await run(home, ["send", "one", "--session", "tree", "--wait"]);
    await run(home, ["send", '/tool List {"path":"."}', "--session", "tree", "--wait"]);
    const [, first] = (await runJson(home, "log", "tree")) as { id: string }[];
    expect(
      await run(home, ["fork", first!.id, "another", "way", "--session", "branch", "--wait"]),
    ).toMatchObject({
      code: 0,
      err: "New session: branch\n",
    });
    const { out } = await run(home, ["log", "tree"]);
    expect(out.split("\n").map((line) => line.replace(/ [0-9A-Z]{26} (?:\((.*?)\) )?.*/, " $1"))).toEqual([
      "* branch",
      "| * HEAD -> tree",
      "|/",
      "* ",
      "",
    ]);
    expect((await run(home, ["log", first!.id])).out).toContain("another way →");
    expect((await run(home, ["show", first!.id])).out).toMatch(/children +2 turns[^]*from owner\]\n {2}one/);
    const [call] = (await runJson(home, "log", "tree")) as { id: string; query: { content: string }[] }[];
    expect(call!.query[0]!.content).toBe("another way");
    expect((await run(home, ["fork", first!.id])).out).toMatch(/New session fork-\S+, forked from/);
    expect(await run(home, ["show", "01ARZ3NDEKTSV4RRFFQ69G5FAV"])).toMatchObject({ code: 1, out: "" });
  });

  test("show cuts what a tool was called with and gave back, and --json has all of it", async () => {
    const long = MAX_CALL_LENGTH + 500;
    const call = { command: `head -c ${long} /dev/zero | tr '\\0' x` };
    await run(home, ["send", `/tool Bash ${JSON.stringify(call)}`, "--session", "long", "--wait"]);
    const [turn] = (await runJson(home, "log", "long")) as [{ id: string; toolCalls: { result: string }[] }];
    expect(turn.toolCalls[0]!.result).toHaveLength(long);
    expect((await run(home, ["show", turn.id])).out).toContain(`\n  ${"x".repeat(MAX_CALL_LENGTH - 1)}…\n`);
  });

  test("why tells what became of a message, step by step", async () => {
    await run(home, ["send", "hello", "--session", "story", "--wait"]);
    const [turn] = (await runJson(home, "log", "story")) as [{ id: string; sourceEventId: string }];
    const { out } = await run(home, ["why", turn.sourceEventId]);
    expect(out.trimEnd().split("\n")).toEqual([
      expect.stringMatching(/^\d{4}-\S+ \S+ +event cli:\S+ accepted from owner on cli: hello$/),
      expect.stringMatching(/\+\d+ ms +hook direct dispatched it to story: queued$/),
      expect.stringMatching(/\+\d+ ms +message \w+ queued in story, mode \S+$/),
      expect.stringMatching(/\+.* attempt 1 started, run \w+$/),
      expect.stringMatching(new RegExp(`\\+.* turn ${turn.id} completed by offline/\\S+, \\$0$`)),
    ]);
    expect(await run(home, ["why", "nothing"])).toMatchObject({
      code: 1,
      out: "",
      err: expect.stringContaining('Unknown event, turn, delivery or queue item "nothing"'),
    });
  });

  test("why says how to add the stranger whom a message is from", async () => {
    const event = {
      adapter: "telegram",
      sourceId: "guest-1",
      channel: "telegram",
      sender: "4711",
      content: "hello?",
    };
    expect(await fetchJson(home, "/api/events", event)).toMatchObject({ eventId: "telegram:guest-1" });
    await expect
      .poll(async () => (await run(home, ["why", "telegram:guest-1"])).out, PATIENT)
      .toContain("run `cortex people add <id> --identity telegram:4711`");
  });

  test("why says what a command was answered, and not that nothing was made of it", async () => {
    const { eventId } = (await fetchJson(home, "/api/messages", { content: "/status" })) as {
      eventId: string;
    };
    const { out } = await run(home, ["why", eventId]);
    expect(out).toMatch(/accepted from owner on http: \/status\n.* Cortex answered: agent:main:main /);
    expect(out).not.toContain("no further processing");
  });

  test("why tells how a message failed", async () => {
    const sent = await run(home, ["send", "fail", "--session", "sad", "--profile", "failing", "--wait"]);
    const item = /cortex dead retry (\w+)/.exec(sent.err)![1]!;
    const { out } = await run(home, ["why", item]);
    expect(out).toMatch(/attempt 1 failed: \w+: .*\n.*message \w+ is a dead letter; /);
    await run(home, ["dead", "drop", item]);
    expect((await run(home, ["why", item])).out).toMatch(
      /attempt 1 failed[^]*dropped by policy "dead letter given up"; see turn \w+\n$/,
    );
  });

  test("a dead letter is listed, shown, tried again and given up", async () => {
    const sent = await run(home, ["send", "fail", "--session", "graves", "--profile", "failing", "--wait"]);
    expect(sent).toMatchObject({ code: 1, out: "" });
    const item = /cortex dead retry (\w+)/.exec(sent.err)![1]!;
    expect((await run(home, ["dead", "list"])).out).toContain(item);
    expect((await run(home, ["status"])).out).toMatch(
      /health +degraded\n[^]*dead letter[^]*cortex dead list/,
    );
    expect((await run(home, ["dead", "show", item])).out).toMatch(/Message:\n {2}fail\n\nError:/);
    expect(await runJson(home, "dead", "show", item)).toEqual(await fetchJson(home, `/api/dead/${item}`));

    expect(await run(home, ["dead", "retry", item])).toMatchObject({
      code: 0,
      out: `Retrying ${item}: message queued.\n`,
    });
    await expect.poll(() => run(home, ["dead", "drop", item]), PATIENT).toMatchObject({ code: 0 });
    expect(await run(home, ["dead", "show", item])).toMatchObject({ code: 1 });
  });

  test("events --follow goes on with what happens, one JSON value a line", async () => {
    const follower = start(home, "events", "--follow", "--json", "--limit", "1");
    await follower.says("\n");
    await run(home, ["send", "hello followers", "--session", "followed", "--wait"]);
    await follower.says("hello followers");
    await follower.says('"direction":"sent"');
    follower.child.kill();
    const { out } = await follower.ended;
    const events = out
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as { content: string });
    expect(events.map(({ content }) => content)).toContain("hello followers");
  });

  test("a reader that has enough ends a command quietly", async () => {
    const follower = start(home, "events", "--follow", "--limit", "1");
    await follower.says("\n");
    follower.child.stdout.destroy();
    await run(home, ["send", "nobody reads this", "--session", "unread", "--wait"]);
    expect(await follower.ended).toMatchObject({ code: 0, err: "" });
  });

  test("--quiet and --no-color", async () => {
    const { out } = await run(home, ["log", "same", "--no-color", "--quiet"]);
    expect(out).not.toContain("\u001b");
  });
});

describe("--start", () => {
  test("starts a server in the background, which stays", async () => {
    using home = temporaryHome();
    mkdirSync(join(home.path, "config"));
    writeFileSync(join(home.path, "config", "cortex.json"), '{ "server": { "port": 0 } }');
    const { code, out, err } = await run(home.path, ["send", "hello", "--start", "--wait"]);
    expect({ code, out, err }).toEqual({
      code: 0,
      out: expect.stringMatching(/^Hello!/),
      err: expect.stringContaining("Started a background server"),
    });
    const { pid } = readNote(home.path);
    expect(await run(home.path, ["send", "hello", "--wait"])).toMatchObject({ code: 0, err: "" });
    expect(readFileSync(join(home.path, "logs", "up.log"), "utf8")).toContain("Cortex is up");
    process.kill(pid, "SIGTERM");
    await expect.poll(() => isAlive(pid), PATIENT).toBe(false);
  });

  test("says why where none could be started", async () => {
    using home = temporaryFolder();
    mkdirSync(join(home.path, "config"));
    writeFileSync(join(home.path, "config", "cortex.json"), '{ "servr": {} }');
    expect(await run(home.path, ["send", "hello", "--start"])).toMatchObject({
      code: 3,
      err: expect.stringMatching(/did not start[^]*up\.log/),
    });
  });
});

/** A profile `failing` that refuses messages which begin with "fail", for good. */
function writeFailingProfile(home: string): void {
  const config = join(home, "config");
  mkdirSync(config);
  const profile = { backend: "offline", script: "failing.yaml" };
  writeFileSync(join(config, "profiles.json"), JSON.stringify({ profiles: { failing: profile } }));
  writeFileSync(join(config, "failing.yaml"), '- when: "^fail"\n  plays:\n    - fault: refused\n');
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** A conversation in a terminal: a real one, in which somebody types, and a server that answers. */
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";

import { start, type Started, startInTerminal, startInTerminalOf } from "./support/cli.ts";
import { run, runJson, startServer } from "./support/here.ts";
import { temporaryFolder } from "./support/temporary.ts";
import { openPane } from "./support/tmux.ts";

const LONG = { timeout: 300_000 };
const NO_TERMINAL = "neither script nor python3 is here to make a terminal";
const NO_TMUX = "there is no tmux here";

/** Nothing stands before it: the agent is idle, and nothing is typed. */
const IDLE_PROMPT = new RegExp(String.raw`[\r\n]› \u001b\[K\u001b\[J`);
const CTRL_C = "\u0003";
const CTRL_D = "\u0004";

const SCRIPT = `
- when: ^describe
  plays:
    - say: |
        # Title
        Some **bold** words, and \`code\` that are long enough for two rows.
        - one
        \`\`\`ts
        let x = 1;
        \`\`\`
        | 名前 | n |
        |---|---|
        | 日本 | 1 |
- when: ^fail
  plays:
    - fault: refused
- when: ^work
  plays:
    - calls:
        - tool: Bash
          args: { command: "while [ ! -e go ]; do sleep 0.05; done; seq 5" }
    - say: Done.
- when: ^ask
  plays:
    - calls:
        - tool: AskUser
          args: { question: "Which colour?", options: ["red", "green"] }
- when: ^write
  plays:
    - calls:
        - tool: Write
          args: { path: "a.txt", content: "x" }
`;

/** A home with the profile `played`, and these settings. */
function newHome(settings: object = {}) {
  const home = temporaryFolder();
  const config = join(home.path, "config");
  mkdirSync(config);
  const profile = { backend: "offline", script: "played.yaml" };
  writeFileSync(join(config, "profiles.json"), JSON.stringify({ profiles: { played: profile } }));
  writeFileSync(join(config, "played.yaml"), SCRIPT);
  writeFileSync(join(config, "cortex.json"), JSON.stringify(settings));
  return home;
}

/** With an agent for relays, `asker`, that asks something first where it is told to ASK. */
function askingHome() {
  const home = newHome();
  const config = join(home.path, "config");
  const asker = { profile: "played", persistSession: false, promptTemplate: "{{input}}", tools: "AskUser" };
  writeFileSync(join(config, "thread-templates.json"), JSON.stringify({ agents: { asker }, templates: {} }));
  const plays =
    "- when: ASK\n  plays:\n    - calls: [{ tool: AskUser, args: { question: Which colour? } }]\n    - { say: painted }\n";
  writeFileSync(join(config, "played.yaml"), `${plays}${SCRIPT}`);
  return home;
}

/** What `work` waits for. */
function letGo(home: string): void {
  mkdirSync(join(home, "workspaces", "main", "go"), { recursive: true });
}

function startChat(home: string, ...args: string[]): Started | undefined {
  return startInTerminal(home, "chat", "--no-color", "--profile", "played", ...args);
}

describe("a conversation", LONG, () => {
  test("streams, shows tool calls, is steered, aborts with Ctrl-C and leaves with the next", async ({
    skip,
  }) => {
    using home = newHome();
    await using _ = await startServer(home.path);
    const chat = startChat(home.path);
    if (chat === undefined) return skip(NO_TERMINAL);
    await chat.says("Session agent:main:main");
    chat.type("hello\r");
    await chat.says("› hello");
    await chat.says("Hello! I can quote");
    await chat.says(IDLE_PROMPT);
    chat.type("/status\r");
    await chat.says("agent:main:main is idle; 0 waiting");
    chat.type('/tool Bash {"command":"while [ ! -e go ]; do sleep 0.05; done; seq 5"}\r');
    await chat.says("Bash while [ ! -e go ]");
    await chat.says("steer-backlog › ");
    chat.type("what did I ask before?\r");
    await chat.says("Sent while the agent is working (steer-backlog)");
    letGo(home.path);
    await chat.says("✓ Bash while [ ! -e go ]");
    await chat.says("│ … 2 more lines");
    await chat.says("You said before:");
    await chat.says(IDLE_PROMPT);
    chat.type('/tool Bash {"command":"sleep 60"}\r');
    await chat.says("Bash sleep 60 · ");
    chat.type(CTRL_C);
    await chat.says("Aborting");
    await chat.says("✗ Bash sleep 60");
    await chat.says("Aborted.");
    chat.type(CTRL_C);
    expect(await chat.ended).toMatchObject({ code: 0 });
  });

  test("joins an agent that is at work already, and explains what could not be answered", async ({
    skip,
  }) => {
    // What the agent still does at the end is not waited for.
    using home = newHome({ broker: { shutdownMs: 0 } });
    await using _ = await startServer(home.path);
    await run(home.path, ["send", '/tool Bash {"command":"sleep 60"}', "--session", "busy"]);
    const chat = startChat(home.path, "--session", "busy");
    if (chat === undefined) return skip(NO_TERMINAL);
    await chat.says(/(?:working|Bash sleep 60) [^\n]*Ctrl-C aborts/);
    chat.type(CTRL_C);
    await chat.says("Aborted.");
    chat.type("fail\r");
    await chat.says("cortex dead retry");
    chat.type('/tool Bash {"command":"sleep 60"}\r');
    await chat.says("Bash sleep 60 · ");
    chat.type(CTRL_D);
    await chat.says("The agent keeps working");
    expect(await chat.ended).toMatchObject({ code: 0 });
  });

  test("goes on after the server was away, also at another address, and ends with Ctrl-D", async ({
    skip,
  }) => {
    using home = newHome();
    const first = await startServer(home.path);
    const chat = startChat(home.path);
    if (chat === undefined) {
      await first[Symbol.asyncDispose]();
      return skip(NO_TERMINAL);
    }
    chat.type("/status\r");
    await chat.says("has no messages yet");
    await first[Symbol.asyncDispose]();
    await chat.says("Connection lost");
    await using _ = await startServer(home.path);
    await chat.says("Reconnected");
    chat.type("hello\r");
    await chat.says("Hello! I can quote");
    chat.type(CTRL_D);
    expect(await chat.ended).toMatchObject({ code: 0 });
  });

  test("goes from session to session, and on after any turn", async ({ skip }) => {
    using home = newHome();
    await using _ = await startServer(home.path);
    const chat = startChat(home.path);
    if (chat === undefined) return skip(NO_TERMINAL);
    await chat.says("Session agent:main:main");
    chat.type("hello\r");
    await chat.says("Hello! I can quote");
    await chat.says(IDLE_PROMPT);
    chat.type("/switch\r");
    await chat.says("Missing session. Usage: /switch <session>");
    chat.type("/turns\r");
    await chat.says(/1 {2}\w{26} .* hello → Hello!/);
    chat.type("/fork 7\r");
    await chat.says("This session has no turn 7");
    chat.type("/fork 1 other\r");
    await chat.says("Session other.");
    await chat.says("› hello"); // what was said there last
    await chat.says("Hello! I can quote");
    await chat.says(/[\r\n]other › /);
    chat.type("/se\t\r");
    await chat.says(/\* {2}other [^]*\n {3}agent:main:main/);
    chat.type("/costs\r");
    await chat.says("this session $0.0000, 0 turns; all sessions $0.0000, 1 turn");
    chat.type("/queue collect\r");
    await chat.says("mode: collect (this session)");
    chat.type("work\r");
    await chat.says("other · collect › ");
    chat.type("/switch agent:m\t\r");
    await chat.says("Session agent:main:main");
    chat.type("/help\r");
    await chat.says("/fork [<turn>] [<session>]");
    await chat.says("/queue [<mode>]");
    letGo(home.path);
    chat.type("/quit\r");
    expect(await chat.ended).toMatchObject({ code: 0 });
  });

  test("what the agent asks is answered where it is asked", async ({ skip }) => {
    using home = newHome({ personas: { atlas: { permissions: { ask: ["Write"] } } } });
    await using _ = await startServer(home.path);
    const chat = startChat(home.path);
    if (chat === undefined) return skip(NO_TERMINAL);
    await chat.says("Session agent:main:main");
    chat.type("write\r");
    await chat.says("The agent wants to call Write");
    await chat.says("yes or no › ");
    chat.type("no, not there\r");
    await chat.says("✗ Write");
    await chat.says("not there");
    await chat.says(IDLE_PROMPT);
    chat.type("write\r");
    await chat.says("yes or no › ");
    chat.type("yes\r");
    await chat.says("✓ Write");
    await chat.says(IDLE_PROMPT);
    chat.type("ask\r");
    await chat.says("2. green");
    await chat.says("answer › ");
    chat.type("2\r");
    await chat.says("✓ AskUser");
    await chat.says("│ green");
    await chat.says(IDLE_PROMPT);
    chat.type(CTRL_D);
    expect(await chat.ended).toMatchObject({ code: 0 });
  });

  test("a relay that was started in the chat asks there, and the next line answers it", async ({ skip }) => {
    using home = askingHome();
    await using _ = await startServer(home.path);
    const chat = startChat(home.path);
    if (chat === undefined) return skip(NO_TERMINAL);
    await chat.says("Session agent:main:main");
    chat.type("!thread asker ASK\r");
    await chat.says(/thr:thr_[0-9a-f]{8}:asker:0 asks: Which colour\?/);
    await chat.says("answer › ");
    chat.type("green\r");
    await chat.says("painted");
    await chat.says(/is completed \(no_matching_transition\): 1 step/);
    chat.type(CTRL_D);
    expect(await chat.ended).toMatchObject({ code: 0 });
    const { items } = (await runJson(home.path, "approvals", "list", "--all")) as { items: object[] };
    expect(items).toMatchObject([{ status: "answered", answer: "green" }]);
  });

  test("without a terminal, a relay's question is printed, and a line after it answers it", async () => {
    using home = askingHome();
    await using _ = await startServer(home.path);
    const chat = start(home.path, "chat");
    chat.type("!thread asker ASK\n");
    await chat.says(/thr:thr_[0-9a-f]{8}:asker:0 asks: Which colour\?/);
    chat.type("green\n");
    await chat.says("painted");
    await chat.says(/is completed \(no_matching_transition\): 1 step/);
    chat.type("!thread asker ASK\n");
    await chat.says("asks: Which colour?");
    chat.type("/answer blue\n");
    await chat.says("Answered: Which colour?");
    await chat.says("is completed");
    chat.child.stdin.end();
    expect(await chat.ended).toMatchObject({ code: 0, err: "" });
    const { items } = (await runJson(home.path, "approvals", "list", "--all")) as { items: object[] };
    expect(items).toMatchObject([{ answer: "blue" }, { answer: "green" }]);
  });

  test("without a terminal, what is asked after the last line is printed with the command that answers it", async () => {
    using home = askingHome();
    await using _ = await startServer(home.path);
    const { code, out } = await run(home.path, ["chat"], "!thread asker ASK\nhello\n");
    expect(code).toBe(0);
    expect(out).toMatch(/^Hello! /m); // a line that was there before the question is none of its answers
    expect(out).toMatch(/asker:0 (?:is waiting for your answer|asks): Which colour\?\n/);
    const json = await run(home.path, ["chat", "--session", "other", "--json"], "!thread asker ASK\n");
    const told = json.out
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as object);
    expect(told).toHaveLength(2);
    expect(told).toContainEqual(
      expect.objectContaining({ kind: "question", question: "Which colour?", status: "open" }),
    );
  });

  test("without a terminal, what the agent of the chat asks is answered by the next line, too", async () => {
    using home = askingHome();
    await using _ = await startServer(home.path);
    const chat = start(home.path, "chat", "--profile", "played");
    chat.type("ASK\n");
    await chat.says("The agent asks: Which colour?");
    chat.type("green\n");
    await chat.says("painted");
    chat.child.stdin.end();
    expect(await chat.ended).toMatchObject({ code: 0 });
  });

  test("a yes that another call has slipped under agrees to nothing", async ({ skip }) => {
    using home = newHome({ personas: { atlas: { permissions: { ask: ["Write"] } } } });
    await using _ = await startServer(home.path);
    const chat = startChat(home.path);
    if (chat === undefined) return skip(NO_TERMINAL);
    await chat.says("Session agent:main:main");
    chat.type("write\r");
    await chat.says("yes or no › ");
    chat.type("ye");
    await chat.says("yes or no › ye");
    await run(home.path, ["send", "write more", "--mode", "followup", "--profile", "played"]);
    const { items } = (await runJson(home.path, "approvals", "list")) as { items: { id: string }[] };
    await run(home.path, ["approvals", "deny", items[0]!.id]);
    await chat.says("The agent wants to call Write");
    chat.type("s\r");
    await chat.says("No decision was recorded");
    chat.type("no\r");
    await chat.says("✗ Write");
    await chat.says(IDLE_PROMPT);
    chat.type(CTRL_D);
    expect(await chat.ended).toMatchObject({ code: 0 });
  });

  test("a terminal in which no cursor can be moved is a pipe", async ({ skip }) => {
    using home = newHome();
    await using _ = await startServer(home.path);
    const chat = startInTerminalOf("dumb", home.path, "chat");
    if (chat === undefined) return skip(NO_TERMINAL);
    chat.type("hello\n");
    await chat.says("Hello! I can quote");
    chat.type(CTRL_D);
    const { code, out } = await chat.ended;
    expect(code).toBe(0);
    expect(out).not.toContain("\u001b");
  });
});

describe("on the screen", LONG, () => {
  test("Markdown is drawn, and stays whole when the terminal changes its size", async ({ skip }) => {
    using home = newHome();
    await using _ = await startServer(home.path);
    using pane = openPane(home.path, { columns: 60, rows: 30 }, "chat", "--profile", "played");
    if (pane === undefined) return skip(NO_TMUX);
    await pane.shows("›");
    pane.type("describe it");
    pane.press("Enter");
    await pane.shows(
      "› describe it",
      "Title",
      "Some bold words, and code that are long enough for two",
      "rows.",
      "• one",
      "╭─ ts",
      "│ let x = 1;",
      "╰─",
      "名前 │ n",
      "─────┼──",
      "日本 │ 1",
      "›",
    );
    pane.type("work");
    pane.press("Enter");
    await expect.poll(() => pane.rows().at(-2)).toMatch(/^. Bash while/);
    await expect.poll(() => pane.rows().at(-1)).toBe("steer-backlog ›");
    pane.resize(30, 30);
    await expect.poll(() => pane.rows().at(-2)).toMatch(/^.{28}…$/);
    pane.resize(80, 30);
    letGo(home.path);
    await pane.shows("Done.", "›");
    const rows = pane.rows();
    for (const row of ["› describe it", "Title", "╰─", "日本 │ 1", "› work", "Done.", "›"])
      expect(rows.filter((shown) => shown === row)).toEqual([row]);
  });

  test("what is typed has as many lines and characters as one likes, and is there again the next time", async ({
    skip,
  }) => {
    using home = newHome();
    writeFileSync(join(home.path, "config", ".env"), "PAY_TOKEN=hunter2hunter2\n");
    await using _ = await startServer(home.path);
    const size = { columns: 40, rows: 20 };
    using first = openPane(home.path, size, "chat", "--session", "typed");
    if (first === undefined) return skip(NO_TMUX);
    await first.shows("typed ›");
    first.type("日本");
    first.press("Left");
    first.type("x");
    await first.shows("typed › 日x本");
    expect(first.cursorColumn()).toBe("typed › ".length + 3);
    first.press("C-u", "C-e", "C-u");
    first.paste("one\n/quit\n");
    first.type("token hunter2hunter2\\");
    first.press("Enter");
    first.type("four");
    await first.shows("typed › one", "    /quit", "    token hunter2hunter2", "    four");
    first.press("Enter");
    await first.shows("› one", "  /quit", "  token hunter2hunter2", "  four");
    await expect.poll(() => first.rows().at(-1)).toBe("typed ›");
    first.press("C-d");
    await first.ended();
    using second = openPane(home.path, size, "chat", "--session", "again");
    await second!.shows("again ›");
    second!.press("Up");
    await second!.shows("again › one", "    /quit", "    token [PAY_TOKEN]", "    four");
    const history = join(home.path, "data", "chat-history");
    expect(readFileSync(history, "utf8")).not.toContain("hunter2");
    expect(statSync(history).mode & 0o777).toBe(0o600);
  });
});

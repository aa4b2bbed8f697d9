import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

import { expect, test } from "vitest";

import { answerByScript } from "./model-script.ts";
import { startModelServer } from "./model-server.ts";

test("a client that does not ask for a stream gets the answer in one", async () => {
  await using server = await startModelServer({
    answer: () => ({ text: "Hello", calls: [{ name: "Read", arguments: { path: "a" } }] }),
  });

  const answer = await post(`${server.openaiUrl}/chat/completions`, [{ role: "user", content: "Hi" }]);

  expect(answer).toMatchObject({
    choices: [
      {
        message: {
          content: "Hello",
          tool_calls: [{ function: { name: "Read", arguments: '{"path":"a"}' } }],
        },
        finish_reason: "tool_calls",
      },
    ],
    usage: { total_tokens: 15 },
  });
  expect(server.requests).toMatchObject([{ protocol: "openai", count: 1, messages: [{ text: "Hi" }] }]);
});

test("the script decides by the conversation alone", () => {
  const said = (role: "user" | "assistant" | "tool", text: string) => ({ role, text, calls: [] });
  const user = said(
    "user",
    'Do it\nCALLS [[{"name":"A","args":{"x":1}}],[{"name":"B","args":{}},{"name":"C","args":{}}]]',
  );
  const names = (...messages: ReturnType<typeof said>[]): string[] | undefined =>
    answerByScript({ messages }).calls?.map(({ name }) => name);
  const [assistant, tool] = [said("assistant", ""), said("tool", "result")];

  expect(names(user)).toEqual(["A"]);
  expect(names(user, assistant, tool)).toEqual(["B", "C"]);
  expect(names(said("user", "before"), assistant, user, assistant, tool)).toEqual(["B", "C"]);
  expect(answerByScript({ messages: [user, assistant, tool, assistant, tool, tool] })).toEqual({
    text: `done: ${user.text.slice(0, 60)}`,
  });
  expect(answerByScript({ messages: [said("user", "Hello")] })).toEqual({ text: "done: Hello" });
});

test("the scripted model runs as a process of its own", async () => {
  const program = fileURLToPath(new URL("model-server-process.ts", import.meta.url));
  const child = spawn(process.execPath, [program, "0", "1"], { stdio: ["ignore", "pipe", "inherit"] });
  try {
    const [line] = (await once(createInterface(child.stdout), "line")) as [string];
    const port = /^listening (\d+)$/.exec(line)?.[1];

    const url = `http://127.0.0.1:${port}/v1/chat/completions`;
    const answer = await post(url, [{ role: "user", content: "Hello" }]);

    expect(answer).toMatchObject({ choices: [{ message: { content: "done: Hello" } }] });
  } finally {
    child.kill();
    await once(child, "close");
  }
});

async function post(url: string, messages: readonly object[]): Promise<unknown> {
  const response = await fetch(url, { method: "POST", body: JSON.stringify({ model: "local", messages }) });
  return response.json();
}

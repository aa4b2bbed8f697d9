/**
 * A model that does what it is told: a line `CALLS [[{"name": …, "args": …}, …], …]` in the newest message of
 * the user lists the calls to make, one list a model call; then it is done. It keeps nothing, so it says the
 * same when it is asked again.
 */
import type { Json } from "../../src/model/json.ts";
import type { ModelRequest, Reply } from "./model-server.ts";

/** How much of the message its answer repeats. */
const REPEATED_CHARACTERS = 60;

export function answerByScript({ messages }: Pick<ModelRequest, "messages">): Reply {
  const asked = messages.findLastIndex(({ role }) => role === "user");
  const text = messages[asked]?.text ?? "";
  const step = messages.slice(asked + 1).filter(({ role }) => role === "assistant").length;
  const calls = scriptedCalls(text)[step];
  if (calls === undefined) return { text: `done: ${text.slice(0, REPEATED_CHARACTERS)}` };
  return {
    // The number of messages before it makes an id that is the same each time and no other's.
    calls: calls.map(({ name, args }, index) => ({
      id: `call_${messages.length}_${index}`,
      name,
      arguments: args,
    })),
  };
}

function scriptedCalls(text: string): { name: string; args: Json }[][] {
  const line = text.split("\n").find((each) => each.startsWith("CALLS "));
  return line === undefined ? [] : JSON.parse(line.slice("CALLS ".length));
}

/**
 * What the messages of the harness ask for, and what the model answers to them. Each message has a name and
 * each of its calls a mark, so that everything can be found again: in the conversation, in the ledger, on disk.
 */
import type { Random } from "../../simulation/random.ts";
import { answerByScript } from "../../support/model-script.ts";
import type { ModelRequest, Reply } from "../../support/model-server.ts";

export interface Task {
  readonly name: string;
  readonly content: string;
}

export interface Call {
  readonly name: "Bash" | "Write" | "Read" | "dispatch_to_agent" | "sub_agent" | "send_message_to_agent";
  /** In the order in which the ledger keeps them. */
  readonly args: Readonly<Record<string, string | boolean>>;
}

const MAX_STEPS = 3;
const MAX_CALLS = 3;

/** A message, most often with calls to make. `log` is the file to which commands append their marks. */
export function makeTask(name: string, log: string, random: Random): Task {
  if (random.chance(0.03)) return { name, content: `MESSAGE ${name}\nREFUSE` };
  const steps = random.chance(0.25) ? 0 : 1 + random.below(MAX_STEPS);
  const calls = Array.from({ length: steps }, (_, step) =>
    Array.from({ length: 1 + random.below(MAX_CALLS) }, (_, place) =>
      makeCall(`${name}.${step}.${place}`, log, random),
    ),
  );
  return { name, content: writeTask(name, calls) };
}

/** A list of calls for each time that the model is asked. */
export function writeTask(name: string, calls: readonly (readonly Call[])[]): string {
  return `MESSAGE ${name}\nCALLS ${JSON.stringify(calls)}`;
}

export function makeCall(mark: string, log: string, random: Random): Call {
  const append = `echo ${mark} >> '${log}'`;
  return random.pick<Call>([
    { name: "Bash", args: { command: append } },
    { name: "Bash", args: { command: `${append}; sleep 0.05` } },
    { name: "Bash", args: { command: `sleep 0.05; ${append}` } },
    { name: "Write", args: { content: mark, path: `marks/${mark}` } },
    { name: "Read", args: { path: `marks/${mark}` } },
  ]);
}

/** The mark of a call that appends or writes one. */
export function markOf({ name, args }: Call): string | undefined {
  if (name === "Bash") return /echo (\S+) >>/.exec(String(args["command"]))![1];
  return name === "Write" ? String(args["content"]) : undefined;
}

/** What a message is called. One that tells of the end of work is called for the session that has done it. */
export function nameIn(content: string): string {
  return NAMED.exec(content)!
    .slice(1)
    .find((name) => name !== undefined)!;
}

const NAMED = /^MESSAGE (\S+)$|^\[worker ([^\],]+)/m;

export function callsIn(content: string): Call[] {
  const line = /^CALLS (.*)$/m.exec(content);
  return line === null ? [] : (JSON.parse(line[1]!) as Call[][]).flat();
}

export function isRefused(content: string): boolean {
  return /^REFUSE$/m.test(content);
}

const AT_IT = "I am at it.";

/** The model makes the calls of the newest message. Its answer names all that it was told, in order. */
export function answerTask(request: Pick<ModelRequest, "messages">): Reply {
  const { messages } = request;
  const newest = messages.findLast(({ role }) => role === "user")!.text;
  if (newest.startsWith("<conversation>")) return { text: heard(recalled(newest)) };
  if (isRefused(newest)) return { fault: { status: 400, body: "It does not want to." } };
  const { calls } = answerByScript(request);
  return calls === undefined ? { text: heard(toldIn(messages)) } : { text: AT_IT, calls };
}

/** Of a question that stands before a summary, its answer tells more. */
function toldIn(messages: ModelRequest["messages"]): string[] {
  return messages.flatMap(({ role, text }, place) => {
    if (role !== "user") return [];
    return NAMED.test(text) ? [nameIn(text)] : recalled(messages[place + 1]!.text);
  });
}

export function heard(names: readonly string[]): string {
  return `I have heard ${names.join(" ")}.`;
}

/** Whether a model that was to answer this has said that much when it was interrupted. */
export function isBeginningOf(said: string | undefined, answer: string): boolean {
  return said === undefined || AT_IT.startsWith(said) || answer.startsWith(said);
}

/** The names in a text about messages, each once. A list that was cut off counts for nothing. */
export function recalled(text: string): string[] {
  const found = [...text.matchAll(/I have heard ([^.…]*)\.|MESSAGE (\S+)/g)];
  return [...new Set(found.flatMap(([, list, name]) => list?.split(" ") ?? [name!]))];
}

import type { AskedMessage } from "./model-protocol.ts";

/** What the strictest of providers would refuse about a conversation; undefined: nothing. */
export function conversationProblem(messages: readonly AskedMessage[]): string | undefined {
  const said = messages.filter(({ role }) => role !== "system");
  if (said[0]?.role !== "user") return "the conversation does not begin with the user";
  const ids = new Set<string>();
  let open: string[] = [];
  let before: AskedMessage["role"] = "system";
  for (const { role, text, calls, callId } of said) {
    if (role === "tool") {
      if (!open.includes(callId!)) return `the result of ${callId} answers no open call`;
      open = open.filter((id) => id !== callId);
    } else if (open.length > 0) return `a message of the ${role} comes before the result of ${open[0]}`;
    if (role === "assistant") {
      if (before === "assistant") return "the assistant speaks twice";
      if (text.trim() === "" && calls.length === 0) return "a message of the assistant is empty";
      for (const { id, name } of calls) {
        if (!/^[\w-]{1,64}$/.test(name)) return `"${name}" is no name of a tool`;
        if (id === "" || ids.has(id)) return `two calls have the id "${id}"`;
        ids.add(id);
        open.push(id);
      }
    }
    before = role;
  }
  if (open.length > 0) return `the call ${open[0]} has no result`;
  return before === "assistant" ? "the conversation ends with the assistant" : undefined;
}

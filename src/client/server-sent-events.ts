/** Reads a stream of server-sent events as the HTML standard describes them, without comments and retries. */
export interface ServerSentEvent {
  /** Absent: the event has none of its own, and the one before it stays the last. */
  readonly id: string | undefined;
  readonly type: string;
  /** Absent: it only says how far the stream has come. */
  readonly data: string | undefined;
}

/** What a server may send without ending a line. */
export const MAX_SSE_LINE_LENGTH = 32 * 1024 * 1024;

export async function* readServerSentEvents(chunks: AsyncIterable<string>): AsyncGenerator<ServerSentEvent> {
  let rest = "";
  /** The return at the end of a chunk: the next may begin with its line feed. */
  let half = "";
  let fields: string[] = [];
  for await (const chunk of chunks) {
    const text = half + chunk;
    const lines = text.split(/\r\n|\n|\r(?!$)/);
    half = text.endsWith("\r") ? "\r" : "";
    if (half !== "") lines.push(lines.pop()!.slice(0, -1));
    lines[0] = rest + lines[0]!; // which is not looked through again
    rest = lines.pop()!;
    if (rest.length > MAX_SSE_LINE_LENGTH)
      throw new Error(`A line has more than ${MAX_SSE_LINE_LENGTH} characters`);
    for (const line of lines) {
      if (line !== "") {
        fields.push(line);
        continue;
      }
      const event = readFields(fields);
      fields = [];
      if (event !== undefined) yield event;
    }
  }
}

function readFields(lines: readonly string[]): ServerSentEvent | undefined {
  let id: string | undefined;
  let type = "message";
  const data: string[] = [];
  for (const line of lines) {
    const [, name, value = ""] = /^([^:]*)(?::[ ]?([^]*))?$/.exec(line)!;
    if (name === "id") id = value;
    if (name === "event") type = value;
    if (name === "data") data.push(value);
  }
  if (id === undefined && data.length === 0) return undefined;
  return { id, type, data: data.length === 0 ? undefined : data.join("\n") };
}

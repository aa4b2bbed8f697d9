/** Reads a stream of server-sent events as the HTML standard describes them, without comments and retries. */
export interface ServerSentEvent {
  /** Absent: the id of the previous event stays the last one. */
  readonly id: string | undefined;
  readonly type: string;
  /** Absent: the event only reports the position of the stream. */
  readonly data: string | undefined;
}

/** Maximum length of a line. */
export const MAX_SSE_LINE_LENGTH = 32 * 1024 * 1024;

export async function* readServerSentEvents(chunks: AsyncIterable<string>): AsyncGenerator<ServerSentEvent> {
  let rest = "";
  /** A carriage return at the end of a chunk: the next chunk may begin with its line feed. */
  let half = "";
  let fields: string[] = [];
  for await (const chunk of chunks) {
    const text = half + chunk;
    const [first = "", ...others] = text.split(/\r\n|\n|\r(?!$)/);
    const lines = [rest + first, ...others]; // the rest is not split again
    half = text.endsWith("\r") ? "\r" : "";
    const last = lines.pop() ?? "";
    rest = half === "" ? last : last.slice(0, -1);
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
    const [, name, value = ""] = /^([^:]*)(?::[ ]?([^]*))?$/.exec(line) ?? [];
    if (name === "id") id = value;
    if (name === "event") type = value;
    if (name === "data") data.push(value);
  }
  if (id === undefined && data.length === 0) return undefined;
  return { id, type, data: data.length === 0 ? undefined : data.join("\n") };
}

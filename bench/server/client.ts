import { Agent, request as httpRequest } from "node:http";

export interface Reply {
  readonly status: number;
  readonly text: string;
}

/** Talks to one server over connections that are kept open, at most so many. */
export class Client implements Disposable {
  readonly #url: string;
  readonly #token: string;
  readonly #agent: Agent;

  constructor({ url, token, connections }: { url: string; token: string; connections: number }) {
    this.#url = url;
    this.#token = token;
    this.#agent = new Agent({ keepAlive: true, maxSockets: connections });
  }

  get(path: string): Promise<Reply> {
    return this.#send("GET", path);
  }

  /** Posts, and tells what came back, be it a refusal. */
  tryPost(path: string, body: object): Promise<Reply> {
    return this.#send("POST", path, JSON.stringify(body));
  }

  /** Rejects what is not a success: a benchmark of refusals would look fast. */
  async post(path: string, body: object): Promise<Reply> {
    const reply = await this.tryPost(path, body);
    if (reply.status >= 300) throw new Error(`POST ${path} was answered with ${reply.status}: ${reply.text}`);
    return reply;
  }

  [Symbol.dispose](): void {
    this.#agent.destroy();
  }

  #send(method: string, path: string, body?: string): Promise<Reply> {
    const headers = {
      authorization: `Bearer ${this.#token}`,
      ...(body === undefined
        ? {}
        : { "content-type": "application/json", "content-length": Buffer.byteLength(body) }),
    };
    return new Promise((resolve, reject) => {
      const options = { method, headers, agent: this.#agent };
      const request = httpRequest(new URL(path, this.#url), options, (response) => {
        let text = "";
        response.setEncoding("utf8");
        response.on("data", (chunk: string) => (text += chunk));
        response.on("end", () => resolve({ status: response.statusCode!, text }));
        response.on("error", reject);
      });
      request.on("error", (error: NodeJS.ErrnoException) => {
        // The server has closed a connection that was idle for long, just when it was to be used again.
        if (request.reusedSocket && error.code === "ECONNRESET") resolve(this.#send(method, path, body));
        else reject(error);
      });
      request.end(body);
    });
  }
}

import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { Asked, ModelCommand, ModelNews } from "./model.ts";

export interface Model extends AsyncDisposable {
  readonly port: number;
  /** Lets a model that was held answer. */
  go(): void;
  /** When each question came in since this was last asked, by its mark. */
  take(): Promise<ReadonlyMap<string, number>>;
}

/** Starts the model as a process of its own, so that its work is not taken for that of the client. */
export async function startModel({ held = false }: { readonly held?: boolean } = {}): Promise<Model> {
  const child = fork(join(import.meta.dirname, "model.ts"), held ? ["--held"] : []);
  const news = async (): Promise<ModelNews> => ((await once(child, "message")) as [ModelNews])[0];
  const tell = (command: ModelCommand): boolean => child.send(command);
  const { port } = (await news()) as { port: number };
  return {
    port,
    go: () => void tell("go"),
    async take() {
      const answer = news();
      tell("take");
      return new Map(((await answer) as { asked: Asked }).asked);
    },
    async [Symbol.asyncDispose]() {
      const ended = once(child, "exit");
      child.disconnect();
      await ended;
    },
  };
}

import type { Json } from "../model/json.ts";
import type { DemoHome } from "./demo-home.ts";
import type { DemoServer } from "./demo-server.ts";
import type { Stage } from "./demo-stage.ts";

/** One thing that a demo shows. */
export interface DemoStep {
  readonly name: string;
  readonly title: string;
  /** What happens, in one or two sentences. */
  readonly about: string;
  play(scene: Scene): Promise<Played>;
}

export interface Scene {
  readonly home: DemoHome;
  readonly server: DemoServer;
  readonly stage: Stage;
  /** How long the model takes before it says something. */
  readonly thinkMs: number;
}

interface Played {
  /** What was to be seen. */
  readonly shown: string;
  /** The same for programs. */
  readonly facts: Readonly<Record<string, Json>>;
}

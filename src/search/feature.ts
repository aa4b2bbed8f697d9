import type { Feature } from "../feature/feature.ts";
import { SEARCH } from "./commands.ts";

/** The length of one hit of `memory_search`. */
const HIT_LENGTH = 1_000;

/** Full-text search over the ledger, and its index. */
export const search: Feature = {
  name: "search",
  commands: [SEARCH],
  toolNames: ["memory_search"],
  async tools(ports) {
    const [{ createMemorySearchTool }, { searchLedger }] = await Promise.all([
      import("../agents/tools/memory-search.ts"),
      import("./search.ts"),
    ]);
    return [
      createMemorySearchTool({
        search: (text, query) => searchLedger(ports().store, text, { textLength: HIT_LENGTH, ...query }),
      }),
    ];
  },
  async routes() {
    const { searchRoutes: routes, searchSchemas: schemas } = await import("./routes.ts");
    return { routes, schemas };
  },
  async open({ store, log }) {
    const { Indexer } = await import("./indexer.ts");
    const indexer = new Indexer({
      store,
      onProblem: (error) => log(`Search indexing is paused: ${String(error)}`),
    });
    return {
      start: () => indexer.start(),
      [Symbol.asyncDispose]: () => indexer[Symbol.asyncDispose](),
    };
  },
};

/** What other programs may import; nothing else is public. */
export { CortexError, type ErrorCode } from "./model/errors.ts";
export type { Usage } from "./model/usage.ts";
export { type Cortex, openCortex } from "./runtime/cortex.ts";
export type * from "./store/store.ts";

/** What other programs may import; nothing else is public. */
export { CortexError, type ErrorCode } from "./model/errors.ts";
export type * from "./model/ids.ts";
export type { Json } from "./model/json.ts";
export type * from "./model/message.ts";
export type { Profile } from "./model/profile.ts";
export type { SessionKey } from "./model/session-key.ts";
export type * from "./model/tool.ts";
export type { Usage } from "./model/usage.ts";
export { type Cortex, type CortexOptions, openCortex as createCortex } from "./runtime/cortex.ts";
export type { LiveEntry, LiveOptions } from "./feature/live.ts";
export type { NewMessage, Sent } from "./intake/messages.ts";
export type { Outcome } from "./feature/outcomes.ts";
export type {
  DryRun,
  DryStep,
  RelayAddition,
  RelayListOptions,
  RelayRequest,
  Relays,
  RelayStarter,
} from "./relay/relays.ts";
export type * from "./store/store.ts";
// oxlint-disable-next-line unicorn/require-module-specifiers -- adds `relays` to `Cortex`
export type {} from "./relay/feature.ts";

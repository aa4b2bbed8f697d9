/** The limits that every store keeps to. */

/** One message of a turn, with its body. A model's answer of 10 MB fits. */
export const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;
/** One part of an event: its content, payload or metadata. Larger content travels as an attachment. */
export const MAX_EVENT_BYTES = 1024 * 1024;
export const MAX_MESSAGES_IN_TURN = 65_536;
export const MAX_TOOL_CALLS_IN_TURN = 65_536;
export const MAX_CHUNKS_IN_DELIVERY = 10_000;
/** How many entries of the feed of changes are kept; some hundreds more may be there. */
export const KEPT_CHANGES = 200_000;
/** What a query may bring back, in characters and bytes. */
export const MAX_QUERY_BYTES = 16 * 1024 * 1024;
export const DEFAULT_QUERY_DEADLINE_MS = 5_000;
export const DEFAULT_QUERY_ROWS = 10_000;
/** What is read at a time: items of a list, entries of the feed of changes. */
export const DEFAULT_PAGE = 100;
export const MAX_PAGE = 1_000;
/** How many causes of an event are read at once. */
export const MAX_CHAIN_READ = 1_000;
/** What a search gives back. */
export const DEFAULT_HITS = 20;
export const MAX_HITS = 100;
export const DEFAULT_HIT_LENGTH = 300;
/** So much of a text is searched, from its beginning. */
export const MAX_SEARCHED_CHARACTERS = 64 * 1024;
/** How many events, the newest, are searched while they wait to be indexed. */
export const SEARCHED_TAIL = 2_000;
export const SEARCH_DEADLINE_MS = 10_000;
/** Of how many runs the pulse is taken. */
export const MAX_PULSE_RUNS = 100;
/** How many quiet windows a message of mode collect waits at most, counted from when it was queued. */
export const MAX_QUIET_WINDOWS = 10;
/** The settings of a session, as JSON. */
export const MAX_SETTINGS_BYTES = 64 * 1024;
/** So many errors in a row open the circuit of a hook. */
export const CIRCUIT_ERRORS = 5;
/** How long a hook is paused whose circuit is open; then one try is due. */
export const CIRCUIT_REST_MS = 5 * 60_000;
/** How many of its last runs say how a hook does. */
export const HEALTH_RUNS = 100;
/** What a hook returned, or exports as its filter, as JSON. */
export const MAX_HOOK_RESULT_BYTES = 256 * 1024;
/** The title, the description and the errors of a hook, in characters. The rest is cut off. */
export const MAX_HOOK_TEXT_LENGTH = 4_000;

/** Limits that apply to every store. */

/** One message of a turn, including its body. Fits a model's answer of 10 MB. */
export const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;
/** Any one of an event's content, payload and metadata. Send larger content as an attachment. */
export const MAX_EVENT_BYTES = 1024 * 1024;
export const MAX_MESSAGES_IN_TURN = 65_536;
export const MAX_TOOL_CALLS_IN_TURN = 65_536;
export const MAX_CHUNKS_IN_DELIVERY = 10_000;
/** Rows of the change feed that are kept; trimming may lag by a few hundred. */
export const KEPT_CHANGES = 200_000;
/** The size of a query's result, in characters and bytes. */
export const MAX_QUERY_BYTES = 16 * 1024 * 1024;
export const DEFAULT_QUERY_DEADLINE_MS = 5_000;
export const DEFAULT_QUERY_ROWS = 10_000;
/** Items of a list, or rows of the change feed, per read. */
export const DEFAULT_PAGE = 100;
export const MAX_PAGE = 1_000;
/** Causes of an event per read. */
export const MAX_CHAIN_READ = 1_000;
/** Hits of a search. */
export const DEFAULT_HITS = 20;
export const MAX_HITS = 100;
export const DEFAULT_HIT_LENGTH = 300;
/** Only the beginning of a text is searched, up to this length. */
export const MAX_SEARCHED_CHARACTERS = 64 * 1024;
/** How many of the newest events are searched before they are indexed. */
export const SEARCHED_TAIL = 2_000;
export const SEARCH_DEADLINE_MS = 10_000;
/** Runs reported by `pulse`. */
export const MAX_PULSE_RUNS = 100;
/** The longest a `collect` message waits after it was queued, in quiet windows. */
export const MAX_QUIET_WINDOWS = 10;
/** The settings of a session, as JSON. */
export const MAX_SETTINGS_BYTES = 64 * 1024;
/** Tokens that are not revoked. */
export const MAX_TOKENS = 1_000;
/** People, the owner included. */
export const MAX_PEOPLE = 10_001;
/** Identities of one person. */
export const MAX_IDENTITIES = 100;
/** Valid codes of strangers. Nobody types more, and anybody can ask for one. */
export const MAX_PAIRINGS = 100;
/** Reactions and deletions that a session's next turn is still to be told of; further ones are only recorded. */
export const MAX_REMARKS = 20;
/** A person's permissions, as JSON. */
export const MAX_PERMISSIONS_BYTES = 64 * 1024;
/** Consecutive errors that open a hook's circuit. */
export const CIRCUIT_ERRORS = 5;
/** How long an open circuit pauses a hook before the next try. */
export const CIRCUIT_REST_MS = 5 * 60_000;
/** How many of its latest runs a hook's health is computed from. */
export const HEALTH_RUNS = 100;
/** A hook's result or exported filter, as JSON. */
export const MAX_HOOK_RESULT_BYTES = 256 * 1024;
/** A hook's title, description and errors, in characters; longer texts are truncated. */
export const MAX_HOOK_TEXT_LENGTH = 4_000;

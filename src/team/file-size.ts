/** Of any file of a team: ten thousand long tasks are less. Larger ones are neither read nor written. */
export const MAX_TEAM_FILE_BYTES = 16 * 1_048_576;

import { stripVTControlCharacters } from "node:util";

const ESCAPE = "\u001B";
/** What sets titles and links. Node's own pattern for it looks for each one's end in all that follows. */
const COMMAND = new RegExp(
  `${ESCAPE}\\](?:[^\\u0007\\u001B\\u009C]*(?:\\u0007|${ESCAPE}\\\\|\\u009C)|\\d?)`,
  "g",
);

/** The text without what a terminal would obey: colours, titles, links and all that moves the cursor. */
export function withoutSequences(text: string): string {
  return stripVTControlCharacters(text.replaceAll(COMMAND, ""));
}

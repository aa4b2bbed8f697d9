/** What a chat answers itself, where somebody wants to know something. */
import { CortexError } from "../model/errors.ts";
import type { SessionKey } from "../model/session-key.ts";
import { chatHelp } from "./chat-commands.ts";
import { describeCosts, describeSessions, describeTurns } from "./chat-lists.ts";
import { type ChatServer, COST_DAYS } from "./chat-server.ts";
import { messageOf, type Talk } from "./message.ts";

export async function answerTo(
  asked: "help" | "sessions" | "turns" | "costs",
  talk: Talk,
  server: ChatServer,
): Promise<string> {
  const { session } = talk;
  switch (asked) {
    case "help": {
      const { text = "" } = await server.say(messageOf("/help", talk));
      return `${chatHelp()}\n\nFor Cortex, here and in every channel:\n${text}`;
    }
    case "sessions":
      return describeSessions(await server.sessions(), session);
    case "turns":
      return describeTurns(await server.turns(session));
    case "costs":
      return describeCosts(await server.costs(), session, COST_DAYS);
  }
}

/** A turn by its id, or by its number in the list of turns. */
export async function findTurn(word: string, session: SessionKey, server: ChatServer): Promise<string> {
  if (!/^\d{1,3}$/.test(word)) return word;
  const turn = (await server.turns(session))[Number(word) - 1];
  if (turn !== undefined) return turn.id;
  throw new CortexError("turn_unknown", `There is no turn ${word} in the list of turns`, {
    hint: "/turns shows the list.",
  });
}

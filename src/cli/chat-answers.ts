/** What a chat answers itself, where somebody wants to know something. */
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

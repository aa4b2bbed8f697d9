import { coreSchemas as schemas } from "../../feature/api.ts";
import { route } from "../../feature/route.ts";

/** Open to everyone: the signature over the raw body identifies the sender. */
export const webhookRoute = route({
  method: "post",
  path: "/webhooks/:name",
  needs: "none",
  summary: "Receive a webhook; it is authenticated by its signature, not by a token",
  answers: { 200: "text/plain", 202: schemas.EventAccepted },
  async handle({ params, header, bytes }, { cortex }) {
    const received = await cortex.webhooks.receive(params.name, { header, body: bytes });
    if (received.kind === "challenge") {
      return new Response(received.challenge, { headers: { "Content-Type": "text/plain; charset=utf-8" } });
    }
    return { status: 202, body: { eventId: received.event, fresh: received.fresh } };
  },
});

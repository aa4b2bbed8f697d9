import { coreSchemas as schemas } from "../feature/api.ts";
import { route } from "../feature/route.ts";

/** Open to everybody: whoever sends is known by the signature, which is a matter of the raw body. */
export const webhookRoute = route({
  method: "post",
  path: "/webhooks/:name",
  summary: "Take a webhook in; its signature is checked, and it needs no token",
  open: true,
  answers: { 200: "text/plain", 202: schemas.EventAccepted },
  async handle({ params, header, bytes }, { cortex }) {
    const taken = await cortex.receiveWebhook(params.name, { header, body: bytes });
    if (taken.kind === "challenge") {
      return new Response(taken.challenge, { headers: { "Content-Type": "text/plain; charset=utf-8" } });
    }
    return { status: 202, body: { eventId: taken.event, fresh: taken.fresh } };
  },
});

/** For whoever sends a webhook to a Cortex, as other programs do: the signature of the generic scheme. */
export { signatureHeaders } from "../channels/webhook/sign.ts";

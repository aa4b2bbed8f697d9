/** The scripted model as a process of its own: `node model-server-process.ts [port] [delayMs]`. */
import { answerByScript } from "./model-script.ts";
import { startModelServer } from "./model-server.ts";

const [port = "0", delayMs = "0"] = process.argv.slice(2);
const server = await startModelServer({
  port: Number(port),
  answer: (request) => ({ ...answerByScript(request), delayMs: Number(delayMs) }),
});
console.log(`listening ${server.port}`);

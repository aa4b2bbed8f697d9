/**
 * Writes the part of Discord's description of its API (https://github.com/discord/discord-api-spec, MIT) that Cortex's
 * requests are checked against: `node test/support/reduce-discord-openapi.ts <openapi.json>`.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const REQUESTS = [
  "post /channels/{channel_id}/messages",
  "patch /channels/{channel_id}/messages/{message_id}",
  "post /channels/{channel_id}/messages/{message_id}/threads",
  "post /channels/{channel_id}/threads",
  "put /applications/{application_id}/commands",
  "post /interactions/{interaction_id}/{interaction_token}/callback",
];
/** What requests without a body are for. */
const BARE = [
  "get /users/@me",
  "get /users/@me/guilds",
  "get /applications/@me",
  "get /gateway/bot",
  "get /guilds/{guild_id}",
  "get /guilds/{guild_id}/channels",
  "get /guilds/{guild_id}/threads/active",
  "get /channels/{channel_id}",
  "get /channels/{channel_id}/messages",
  "get /channels/{channel_id}/messages/{message_id}",
  "delete /channels/{channel_id}/messages/{message_id}",
  "put /channels/{channel_id}/messages/{message_id}/reactions/{emoji_name}/@me",
  "post /channels/{channel_id}/typing",
];
/** Alternatives that Cortex never sends: without them, the check is stricter. */
const DROPPED =
  /\/(Container|File|MediaGallery|Section|Separator|TextDisplay|\w*Select|Modal|LaunchActivity|Pong|SocialLayer|\w*Autocomplete|CreateForum|CustomClientTheme|ApplicationCommand(?!StringOption|UpdateRequest|OptionType|Type|Handler))/;
const WORDS = new Set(["description", "title", "examples", "format", "x-discord-union"]);

type Node = ReturnType<typeof JSON.parse>;

const given: Node = JSON.parse(readFileSync(process.argv[2]!, "utf8"));
const schemas: Record<string, Node> = {};
const requests = Object.fromEntries([
  ...REQUESTS.map((each) => [each, keep(bodyOf(each))]),
  ...BARE.map((each) => [each, operationOf(each) && null]),
]);
const path = fileURLToPath(new URL("../fixtures/discord-openapi.json", import.meta.url));
writeFileSync(path, JSON.stringify({ license: "MIT, Copyright Discord Inc.", requests, schemas }));

function operationOf(request: string): Node {
  const [method = "", path = ""] = request.split(" ");
  const operation = given.paths[path]?.[method];
  if (operation === undefined) throw new Error(`The description has no ${request}`);
  return operation;
}

function bodyOf(request: string): Node {
  return operationOf(request).requestBody.content["application/json"].schema;
}

/** Without words, and with the schemas that it names. */
function keep(node: Node, isMap = false): Node {
  if (Array.isArray(node))
    return node.filter((each) => !DROPPED.test(each?.$ref ?? "")).map((each) => keep(each));
  if (typeof node !== "object" || node === null) return node;
  const name: string | undefined = node.$ref?.split("/").at(-1);
  if (name !== undefined && schemas[name] === undefined) {
    schemas[name] = {};
    schemas[name] = keep(given.components.schemas[name]);
  }
  const entries = Object.entries(node).filter(([key]) => isMap || !WORDS.has(key));
  return Object.fromEntries(entries.map(([key, value]) => [key, keep(value, key === "properties")]));
}

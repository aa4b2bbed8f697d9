/** Slack's markup as readable text: `<@U1>`, `<#C1|general>`, `<!here>`, `<https://…|label>`, and what is escaped. */
import type { Directory } from "./directory.ts";

const MARKUP = /<([@#!]?)([^<>|]*)(?:\|([^<>]*))?>/g;

/** Without the mention of the agent that it begins with. */
export async function readableText(text: string, me: string, names: Directory): Promise<string> {
  const said = text.replace(new RegExp(`^\\s*<@${me}(\\|[^>]*)?>[\\s,:]*`), "");
  let readable = "";
  let from = 0;
  for (const found of said.matchAll(MARKUP)) {
    readable += said.slice(from, found.index) + (await nameOf(found, names));
    from = found.index + found[0].length;
  }
  return (readable + said.slice(from))
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&amp;", "&");
}

async function nameOf([, sign, id = "", label = ""]: RegExpExecArray, names: Directory): Promise<string> {
  switch (sign as "@" | "#" | "!" | "") {
    case "@":
      return `@${label || ((await names.person(id)) ?? id)}`;
    case "#":
      return `#${label || ((await names.place(id))?.name ?? id)}`;
    case "!":
      // <!here>, <!subteam^S1|@team>, <!date^…|what is shown>
      return label || `@${id.split("^", 1)[0]}`;
    case "": {
      const address = id.replace(/^mailto:/, "");
      return label === "" || address.includes(label) ? address : `[${label}](${address})`;
    }
  }
}

import { type MarkdownToken, parseMessageInline } from "./markdown.ts";
import { isAddress, MAX_LINK_LENGTH } from "./rich-text.ts";
import type { OpenRange, RichTextBuilder } from "./rich-text-builder.ts";

const KINDS: Readonly<Record<string, "bold" | "italic" | "strike" | "code">> = {
  strong: "bold",
  em: "italic",
  s: "strike",
  code: "code",
};
/** The one tag that models write where Markdown has nothing: in tables. */
const LINE_BREAK = /<br *\/?>/i;

/** Writes emphasis, code, links and images of one block. Line breaks are kept: models mean them. */
export function writeInline(markdown: string, out: RichTextBuilder, newLine: string): void {
  const open: (OpenRange | undefined)[] = [];
  let label = "";
  let link: MarkdownToken | undefined;
  function add(text: string): void {
    label += text;
    out.add(text);
  }
  function openLink(token: MarkdownToken): void {
    const range = out.open({ kind: "link", url: linkUrl(addressOf(token)) ?? "" });
    open.push(range);
    if (range !== undefined) [link, label] = [token, ""];
  }
  function closeLink(): void {
    const range = open.pop();
    if (range?.kind !== "link" || link === undefined) return; // an image in a link
    const address = addressOf(link).replace(/^mailto:/, "");
    if (label.trim() === "") add(address);
    const deceives = label.includes("://") && !isAddress(label, range.url);
    if (range.url !== "" && !deceives) return out.close(range);
    out.drop(range);
    if (link.info !== "auto" && label !== address && address !== "") add(` (${address})`);
  }

  for (const token of parseMessageInline(markdown)) {
    const kind = KINDS[token.tag];
    if (token.type === "link_open") openLink(token);
    else if (token.type === "link_close") closeLink();
    else if (token.type === "image") {
      openLink(token);
      add(altOf(token));
      closeLink();
    } else if (token.type === "softbreak" || token.type === "hardbreak") add(newLine);
    else if (kind === undefined) add(token.content.split(LINE_BREAK).join(newLine));
    else {
      if (token.nesting >= 0) open.push(out.open({ kind }));
      add(token.content);
      if (token.nesting <= 0) out.close(open.pop());
    }
  }
}

function addressOf(token: MarkdownToken): string {
  return String(token.attrGet(token.type === "image" ? "src" : "href") ?? "");
}

/** The words of an image, without their markup. */
function altOf({ children }: MarkdownToken): string {
  return (children ?? []).map(({ type, content }) => (type === "softbreak" ? " " : content)).join("");
}

/** A name or an IPv4 address. Telegram refuses messages with links to anything else, such as `localhost`. */
const HOST = /^[\w-]+(\.[\w-]+)+$/;

/** Undefined: not every platform would take it as a link, or it could deceive the reader. */
function linkUrl(address: string): string | undefined {
  const url = URL.parse(address);
  if (url === null || !/^https?:$/.test(url.protocol) || !HOST.test(url.hostname)) return undefined;
  if (url.username !== "" || url.password !== "" || url.port === "0") return undefined;
  return url.href.length > MAX_LINK_LENGTH ? undefined : url.href;
}

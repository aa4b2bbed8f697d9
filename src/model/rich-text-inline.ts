import { type MarkdownToken, parseMessageInline } from "./markdown.ts";
import { isAddress, MAX_URL_LENGTH } from "./rich-text.ts";
import type { RichTextBuilder } from "./rich-text-builder.ts";

const KINDS = { strong: "bold", em: "italic", s: "strike" } as const;
/** The one tag that models write where Markdown has nothing: in tables. */
const LINE_BREAK = /<br *\/?>/i;

/** Writes emphasis, code, links and images of one block. Line breaks are kept: models mean them. */
export function writeInline(markdown: string, out: RichTextBuilder, newLine: string): void {
  const open: ReturnType<RichTextBuilder["open"]>[] = [];
  let label = "";
  function add(text: string): void {
    label += text;
    out.add(text);
  }
  function openLink(token: MarkdownToken): void {
    label = "";
    open.push(out.open({ kind: "link", url: linkUrl(addressOf(token)) ?? "" }));
  }
  function closeLink(token: MarkdownToken): void {
    const range = open.pop();
    if (range?.kind !== "link") return; // an image in a link
    const address = addressOf(token).replace(/^mailto:/, "");
    if (label.trim() === "") add(address);
    const deceives = label.includes("://") && !isAddress(label, range.url);
    if (range.url !== "" && !deceives) return out.close(range);
    out.drop(range);
    if (token.info !== "auto" && label !== address && address !== "") add(` (${address})`);
  }

  let link: MarkdownToken | undefined;
  for (const token of parseMessageInline(markdown)) {
    switch (token.type) {
      case "softbreak":
      case "hardbreak":
        add(newLine);
        break;
      case "code_inline": {
        const code = out.open({ kind: "code" });
        add(token.content);
        out.close(code);
        break;
      }
      case "image":
        openLink(token);
        add(altOf(token));
        closeLink(token);
        break;
      case "link_open":
        link = token;
        openLink(token);
        break;
      case "link_close":
        if (link !== undefined) closeLink(link);
        break;
      case "strong_open":
      case "em_open":
      case "s_open":
        open.push(out.open({ kind: KINDS[token.tag as keyof typeof KINDS] }));
        break;
      case "strong_close":
      case "em_close":
      case "s_close":
        out.close(open.pop());
        break;
      default:
        add(token.content.split(LINE_BREAK).join(newLine));
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
  return url.href.length > MAX_URL_LENGTH ? undefined : url.href;
}

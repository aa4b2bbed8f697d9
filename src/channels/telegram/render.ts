/**
 * Rich text as `text` and `entities` of the Bot API: nothing in the text is parsed for markup, so no message is refused for
 * it. The rules are those of TDLib, on which Telegram's servers are built: `MessageEntity.cpp`, `LinkManager.cpp`.
 */
import type { MessageFormat } from "../../model/cut-rich-text.ts";
import { type RichText, type RichTextRange, runsOf } from "../../model/rich-text.ts";

/** Telegram counts characters, of which no text has more than UTF-16 units. */
const MAX_LENGTH = 4_096;
/** Telegram ignores further ones (tdlib/telegram-bot-api#820). */
const MAX_ENTITIES = 100;
/** Telegram refuses more than about 9,500 bytes (tdlib/telegram-bot-api#165). */
const MAX_ENTITIES_BYTES = 9_000;
/** Of an entity without its address and language. */
const ENTITY_BYTES = 16;

export const telegramFormat: MessageFormat = {
  maxLength: MAX_LENGTH,
  render: (piece) => {
    const { text, entities } = messageOf(piece);
    const sizes = entities.map(({ url = "", language = "" }) => ENTITY_BYTES + url.length + language.length);
    const bytes = sizes.reduce((sum, size) => sum + size, 0);
    const fills = [text.length / MAX_LENGTH, entities.length / MAX_ENTITIES, bytes / MAX_ENTITIES_BYTES];
    return { wire: JSON.stringify({ text, entities }), fill: Math.max(...fills) };
  },
};

interface Entity {
  readonly type: "bold" | "italic" | "strikethrough" | "code" | "pre" | "text_link" | "blockquote";
  /** In UTF-16 units. */
  readonly offset: number;
  length: number;
  readonly url?: string;
  readonly language?: string;
}

function messageOf(piece: RichText): { readonly text: string; readonly entities: readonly Entity[] } {
  const entities: Entity[] = [];
  const entityOf = new Map<RichTextRange, Entity>();
  let text = "";
  for (const run of runsOf(piece)) {
    const ranges = allowedTogether(run.ranges);
    const offset = text.length;
    text += ranges.some(({ kind }) => UNLINKED.has(kind)) ? run.text : withoutMentions(run.text);
    for (const range of ranges) {
      let entity = entityOf.get(range);
      if (entity === undefined || entity.offset + entity.length < offset) {
        entity = { ...formatOf(range), offset, length: 0 };
        entityOf.set(range, entity);
        entities.push(entity);
      }
      entity.length = text.length - entity.offset;
    }
  }
  return { text, entities };
}

/** Telegram looks for names in all other text. */
const UNLINKED: ReadonlySet<RichTextRange["kind"]> = new Set(["code", "pre", "link"]);

/** Code is in nothing but quotes. A link wins over code in it. Nothing is in its like, and headings are bold. */
function allowedTogether(ranges: readonly RichTextRange[]): readonly RichTextRange[] {
  const kinds = new Set(ranges.map(({ kind }) => kind));
  if (kinds.has("link")) kinds.delete("code");
  if (kinds.has("heading")) kinds.delete("bold");
  const isCode = kinds.has("code") || kinds.has("pre");
  return ranges.filter(({ kind }) => kinds.has(kind) && (!isCode || kind === "quote" || UNLINKED.has(kind)));
}

function formatOf(range: RichTextRange): Pick<Entity, "type" | "url" | "language"> {
  switch (range.kind) {
    case "heading":
      return { type: "bold" };
    case "strike":
      return { type: "strikethrough" };
    case "quote":
      return { type: "blockquote" };
    case "link":
      return { type: "text_link", url: range.url };
    case "pre":
      return range.language === "" ? { type: "pre" } : { type: "pre", language: range.language };
    case "bold":
    case "italic":
    case "code":
      return { type: range.kind };
  }
}

/**
 * `@name` would notify whoever has that name, and a model writes what strangers tell it to. No entity prevents that without
 * changing the look of the name; an invisible word joiner does. In code it would be copied along, but there Telegram looks
 * for no names. In mail addresses neither.
 */
function withoutMentions(text: string): string {
  return text.replaceAll(/(?<!\w)@(?=\w|$)/g, "@\u2060");
}

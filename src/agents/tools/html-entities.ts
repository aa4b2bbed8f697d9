/** The names of characters that pages really use, each before its character; the standard has two thousand more. */
const SHOWN = `
  amp & lt < gt > quot " apos ' iexcl ¡ cent ¢ pound £ yen ¥ euro € sect § copy © reg ® trade ™ deg ° plusmn ±
  sup2 ² sup3 ³ frac12 ½ frac14 ¼ micro µ para ¶ middot · laquo « raquo » iquest ¿ times × divide ÷ agrave à
  aacute á acirc â atilde ã auml ä aring å aelig æ ccedil ç egrave è eacute é ecirc ê euml ë iacute í icirc î
  iuml ï ntilde ñ oacute ó ocirc ô otilde õ ouml ö oslash ø szlig ß uacute ú ucirc û uuml ü Auml Ä Ouml Ö
  Uuml Ü Eacute É ndash – mdash — lsquo ‘ rsquo ’ sbquo ‚ ldquo “ rdquo ” bdquo „ bull • hellip … prime ′
  larr ← uarr ↑ rarr → darr ↓ harr ↔ minus − le ≤ ge ≥ ne ≠ asymp ≈ infin ∞ check ✓`;

const NAMED: ReadonlyMap<string, string> = new Map([
  ...Array.from(SHOWN.matchAll(/(\w+) (\S+)/g), ([, name, character]) => [name!, character!] as const),
  // Those that are not seen.
  ["nbsp", "\u00a0"],
  ["shy", ""],
  ["zwj", "\u200d"],
  ["zwnj", "\u200c"],
  ["ensp", " "],
  ["emsp", " "],
  ["thinsp", " "],
]);

/** A name counts only with its semicolon: in addresses, `&copy=1` is a parameter. */
const ENTITY = /&(?:#(\d{1,8});?|#x([\da-f]{1,8});?|([a-z][a-z\d]{1,7});)/gi;

/** What is no character reference stays as it is. */
export function decodeEntities(html: string): string {
  if (!html.includes("&")) return html;
  return html.replaceAll(ENTITY, (whole: string, decimal?: string, hex?: string, name?: string) => {
    if (name !== undefined) return NAMED.get(name) ?? whole;
    return characterOf(decimal === undefined ? Number.parseInt(hex!, 16) : Number(decimal));
  });
}

/** Old pages mean the characters of Windows by 128 to 159, and browsers read them so. */
const windows = new TextDecoder("windows-1252");

function characterOf(code: number): string {
  if (code >= 0x80 && code <= 0x9f) return windows.decode(Uint8Array.of(code));
  const isCharacter = code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff);
  return isCharacter ? String.fromCodePoint(code) : "\ufffd";
}

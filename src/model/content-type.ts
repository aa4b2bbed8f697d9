/** What a file is, by its name or its first bytes. */

const BY_ENDING: Readonly<Record<string, string>> = {
  csv: "text/csv",
  gif: "image/gif",
  html: "text/html",
  jpeg: "image/jpeg",
  jpg: "image/jpeg",
  json: "application/json",
  m4a: "audio/mp4",
  md: "text/markdown",
  mov: "video/quicktime",
  mp3: "audio/mpeg",
  mp4: "video/mp4",
  oga: "audio/ogg",
  ogg: "audio/ogg",
  opus: "audio/ogg",
  pdf: "application/pdf",
  png: "image/png",
  svg: "image/svg+xml",
  txt: "text/plain",
  wav: "audio/wav",
  webm: "video/webm",
  webp: "image/webp",
  zip: "application/zip",
};

/** Signatures, as Latin-1, at an offset. */
const BY_BYTES: readonly (readonly [offset: number, bytes: string, ending: string])[] = [
  [0, "\x89PNG", "png"],
  [0, "\xff\xd8\xff", "jpg"],
  [0, "GIF8", "gif"],
  [8, "WEBP", "webp"],
  [8, "WAVE", "wav"],
  [0, "%PDF-", "pdf"],
  [0, "OggS", "ogg"],
  [0, "ID3", "mp3"],
  [4, "ftypM4A", "m4a"],
  [4, "ftyp", "mp4"],
  [0, "PK\x03\x04", "zip"],
];

const UNKNOWN = "application/octet-stream";

/** A name without an ending gets that of its content, if it is known. */
export function nameFile(
  name: string,
  content: Uint8Array,
): { readonly name: string; readonly contentType: string } {
  const ending = /\.([a-z0-9]{1,8})$/i.exec(name)?.[1]?.toLowerCase();
  if (ending !== undefined) return { name, contentType: BY_ENDING[ending] ?? UNKNOWN };
  const head = Buffer.from(content.subarray(0, 16)).toString("latin1");
  const found = BY_BYTES.find(([offset, bytes]) => head.startsWith(bytes, offset))?.[2];
  return found === undefined
    ? { name, contentType: UNKNOWN }
    : { name: `${name}.${found}`, contentType: BY_ENDING[found]! };
}

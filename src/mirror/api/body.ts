import { isUtf8 } from "node:buffer";
import { promisify } from "node:util";
import { brotliDecompress, gunzip, inflate, inflateRaw } from "node:zlib";

/** The codings that requests ask for. Deflate is read too, but servers do not agree about its form. */
export const ACCEPT_ENCODING = "gzip, br";

/** The body was longer than allowed, before or after decompression. */
export class BodyTooLargeError extends Error {
  override name = "BodyTooLargeError";
}

/** The body is complete, but its encoding was not requested, or its data is broken. */
export class UndecodableBodyError extends Error {
  override name = "UndecodableBodyError";
}

/** Reads a body of at most `maxBytes`, in pieces as they came. On failure the caller ends the stream. */
export async function readBody(stream: AsyncIterable<Buffer>, maxBytes: number): Promise<Buffer[]> {
  const pieces: Buffer[] = [];
  let length = 0;
  for await (const piece of stream) {
    length += piece.length;
    if (length > maxBytes) throw new BodyTooLargeError(`the body is longer than ${maxBytes} bytes`);
    pieces.push(piece);
  }
  return pieces;
}

type Decoder = (body: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>;
const [inflated, inflatedRaw] = [promisify(inflate), promisify(inflateRaw)];
const DECODERS: ReadonlyMap<string, Decoder> = new Map<string, Decoder>([
  ["gzip", promisify(gunzip)],
  ["br", promisify(brotliDecompress)],
  // With the head of zlib, as the standard has it, or without, as some servers send it.
  ["deflate", (body, options) => (hasZlibHead(body) ? inflated : inflatedRaw)(body, options)],
]);
const hasZlibHead = (body: Buffer) => (Number(body[0]) & 15) === 8 && body.readUInt16BE() % 31 === 0;
/** More than any server has reason for. Each one may unpack to `maxBytes`. */
const MOST_CODINGS = 4;

/**
 * Unpacks a body by its `Content-Encoding`, to at most `maxBytes`. Words that are no coding, such as `utf-8`, are left out
 * when text remains. Rejects with one of the two errors above.
 */
export async function decodeBody(body: Buffer[], encoding: string | undefined, maxBytes: number) {
  if (encoding === undefined || body.every(({ length }) => length === 0)) return body;
  const names = encoding.toLowerCase().split(",");
  const codings = names.map((name) => name.trim().replace(/^x-/, "")).filter((name) => name !== "");
  const known = codings.filter((name) => DECODERS.has(name));
  if (known.length > MOST_CODINGS) throw new UndecodableBodyError(`it was packed ${known.length} times`);
  let unpacked = body;
  // The last one was applied last.
  for (const name of known.toReversed()) unpacked = [await unpack(Buffer.concat(unpacked), name, maxBytes)];
  const other = codings.find((name) => name !== "identity" && !known.includes(name));
  if (other !== undefined && !isText(unpacked[0]))
    throw new UndecodableBodyError(`its content encoding '${other.slice(0, 40)}' was not requested`);
  return unpacked;
}

/** The body begins without a control character. Packed bytes have one soon; text may have zeros, in UTF-16. */
function isText(body: Buffer = Buffer.alloc(0)): boolean {
  return body.subarray(0, 1000).every((byte) => byte >= 32 || byte === 0 || (byte >= 9 && byte <= 13));
}

async function unpack(body: Buffer, name: string, maxBytes: number): Promise<Buffer> {
  try {
    return (await DECODERS.get(name)?.(body, { maxOutputLength: maxBytes })) ?? body;
  } catch (error) {
    const { code, message } = error as Error & { code?: string };
    if (code === "ERR_BUFFER_TOO_LARGE")
      throw new BodyTooLargeError(`the unpacked body is longer than ${maxBytes} bytes`);
    throw new UndecodableBodyError(`it could not be unpacked from ${name}: ${message}`, { cause: error });
  }
}

function charsetIn(text: string): string | undefined {
  return /charset\s*=\s*["']?\s*([\w.:-]+)/i.exec(text)?.[1];
}

function charsetNamed(label: string): string | null {
  try {
    return new TextDecoder(label).encoding;
  } catch {
    return null;
  }
}

/** Leaves the mark out. Bytes that do not fit become U+FFFD, or throw a TypeError if `fatal`. */
function decodeCharset(body: Buffer, charset: string, fatal = false): string {
  const decoder = new TextDecoder(charset, { fatal });
  // In one piece, Node 20 reads windows-1252 as if it were ISO-8859-1, and loses quotes and the euro.
  return decoder.decode(body, { stream: true }) + decoder.decode();
}

/** By its name in the Encoding Standard. JSON without one is UTF-8, which also replaces an `unknown` one. */
export function charsetOf(contentType: string | undefined): { name: string; unknown: string | null } {
  const label = charsetIn(contentType ?? "");
  if (label === undefined || /^utf-?8$/i.test(label)) return { name: "utf-8", unknown: null };
  const name = charsetNamed(label);
  return { name: name ?? "utf-8", unknown: name === null ? label : null };
}

/**
 * Decodes a body in linear time, without its byte order mark. Bytes that do not fit become U+FFFD. `damaged` is null when
 * all fit, else the text with `?` for each U+FFFD that was sent.
 */
export function decodeReply(body: Buffer, charset: string): { text: string; damaged: string | null } {
  if (charset !== "utf-8" && !(charset === NEVER_FAILING && isUtf8(body))) return decodeOther(body, charset);
  const text = withoutMark(body.toString("utf8"));
  if (!text.includes("\uFFFD") || isUtf8(body)) return { text, damaged: null };
  const copy = Buffer.from(body);
  // U+FFFD in UTF-8. Its first byte is never the middle of another character.
  for (let at = copy.indexOf(REPLACEMENT); at >= 0; at = copy.indexOf(REPLACEMENT, at + 3))
    copy.fill("?", at, at + 3);
  return { text, damaged: withoutEscapes(withoutMark(copy.toString("utf8"))) };
}

/** All bytes fit it, so a wrong declaration would never be seen. It is a default of servers, while JSON is UTF-8 (RFC 8259). */
const NEVER_FAILING = "windows-1252";

const REPLACEMENT = Buffer.from("\uFFFD");

function decodeOther(body: Buffer, charset: string): ReturnType<typeof decodeReply> {
  try {
    return { text: decodeCharset(body, charset, true), damaged: null };
  } catch {
    const text = decodeCharset(body, charset);
    return { text, damaged: withoutEscapes(text) };
  }
}

const withoutMark = (text: string) => (text.startsWith("\uFEFF") ? text.slice(1) : text);

/** An escape is a character that was sent. A backslash that is escaped itself begins none. */
function withoutEscapes(text: string): string {
  return text.replace(/\\(?:\\|ufffd)/gi, (found) => (found === "\\\\" ? found : "?"));
}

/** The text of a page, by its mark, its `Content-Type`, its own `meta` or XML declaration, else as UTF-8. Never throws. */
export function decodePage(body: Buffer, contentType: string): string {
  const start = body.subarray(0, 1024).toString("latin1");
  const named =
    markOf(body) ??
    charsetIn(contentType) ??
    charsetIn(/<meta[^>]*charset[^>]*>/i.exec(start)?.[0] ?? "") ??
    /^\s*<\?xml[^>]*\sencoding\s*=\s*["']([^"']+)/i.exec(start)?.[1];
  return decodeCharset(body, charsetNamed(named ?? "utf-8") ?? "utf-8");
}

function markOf(body: Buffer): string | undefined {
  if (body[0] === 0xfe && body[1] === 0xff) return "utf-16be";
  if (body[0] === 0xff && body[1] === 0xfe) return "utf-16le";
  return body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf ? "utf-8" : undefined;
}

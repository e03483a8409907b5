/** The charset that a `Content-Type` or a `meta` element names, or undefined. */
export function charsetIn(text: string): string | undefined {
  return /charset\s*=\s*["']?\s*([\w.:-]+)/i.exec(text)?.[1];
}

/** The name of a charset by any of its labels, such as "windows-1252" for ISO-8859-1. Null for an unknown label. */
export function charsetNamed(label: string): string | null {
  try {
    return new TextDecoder(label).encoding;
  } catch {
    return null;
  }
}

/** Decodes a body without its mark. Bytes that do not fit become U+FFFD, or throw a TypeError if `fatal`. */
export function decodeCharset(body: Buffer, charset: string, options: { fatal?: boolean } = {}): string {
  const decoder = new TextDecoder(charset, options);
  // In one piece, Node 20 reads windows-1252 as if it were ISO-8859-1, and loses quotes and the euro.
  return decoder.decode(body, { stream: true }) + decoder.decode();
}

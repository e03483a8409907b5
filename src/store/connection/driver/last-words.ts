const ERROR = "E".charCodeAt(0);
/** The type and the length of a message. */
const HEAD_BYTES = 5;
/** A reason is a sentence. */
const LONGEST_BYTES = 4096;

/**
 * Why the server ended a session: the sentence of the error with which `bytes` end, and its code. Null when they end otherwise. The driver
 * waits for a "ready" behind each error, which does not come then, and knows nothing but a closed connection.
 */
export function lastWords(bytes: Buffer): string | null {
  const first = Math.max(0, bytes.length - LONGEST_BYTES);
  for (let at = bytes.length - HEAD_BYTES; at >= first; at--) {
    if (bytes[at] !== ERROR || bytes.readUInt32BE(at + 1) !== bytes.length - at - 1) continue;
    const fields = new Map(
      bytes
        .toString("utf8", at + HEAD_BYTES)
        .split("\0")
        .map((field) => [field.charAt(0), field.slice(1)]),
    );
    const [message, code] = [fields.get("M"), fields.get("C")];
    if (message && code && fields.has("S")) return `${message} (${code})`;
  }
  return null;
}

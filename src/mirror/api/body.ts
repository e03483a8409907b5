import { promisify } from "node:util";
import { brotliDecompress, gunzip, inflate } from "node:zlib";

/** The encodings that requests ask for. No other one is decoded. */
export const ACCEPT_ENCODING = "gzip, deflate, br";

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

const DECODERS = { gzip: promisify(gunzip), deflate: promisify(inflate), br: promisify(brotliDecompress) };

/** Unpacks a body by its `Content-Encoding`, to at most `maxBytes`. Rejects with one of the two errors above. */
export async function decodeBody(
  body: Buffer[],
  encoding: string | undefined,
  maxBytes: number,
): Promise<Buffer[]> {
  const name = (encoding ?? "identity").trim().toLowerCase().replace(/^x-/, "");
  if (name === "identity" || name === "") return body;
  if (name !== "gzip" && name !== "deflate" && name !== "br")
    throw new UndecodableBodyError(`its content encoding '${name.slice(0, 40)}' was not requested`);
  try {
    return [await DECODERS[name](Buffer.concat(body), { maxOutputLength: maxBytes })];
  } catch (error) {
    if ((error as { code?: string }).code === "ERR_BUFFER_TOO_LARGE") {
      throw new BodyTooLargeError(`the unpacked body is longer than ${maxBytes} bytes`);
    }
    throw new UndecodableBodyError(`it could not be unpacked from ${name}: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

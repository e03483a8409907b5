import { describe, expect, it } from "vitest";
import { lastWords } from "../../../../src/store/connection/driver/driver-socket.ts";

/** A message of the protocol: its type, its length, its content. */
function message(type: string, content: string): Buffer {
  const text = Buffer.from(content, "utf8");
  const head = Buffer.alloc(5);
  head.write(type, 0, "latin1");
  head.writeUInt32BE(text.length + 4, 1);
  return Buffer.concat([head, text]);
}

const FATAL = message("E", "SFATAL\0VFATAL\0C57P01\0Mgehen, während andere bleiben\0\0");

describe("the last words of a server", () => {
  it("are its error at the end, whatever comes before", () => {
    expect(lastWords(FATAL)).toBe("gehen, während andere bleiben (57P01)");
    expect(lastWords(Buffer.concat([message("D", "E".repeat(9000)), FATAL]))).toBe(
      "gehen, während andere bleiben (57P01)",
    );
  });

  it.each([
    ["nothing", Buffer.alloc(0)],
    ["rows", message("D", "E\0\0\0\u0004")],
    ["half an error", FATAL.subarray(0, -3)],
    ["an error with more behind it", Buffer.concat([FATAL, message("Z", "I")])],
    ["an error without a sentence", message("E", "SFATAL\0C57P01\0\0")],
    ["noise", Buffer.from(Array.from({ length: 5000 }, (_, at) => (at * 31) % 256))],
  ])("are none at the end of %s", (_what, bytes) => {
    expect(lastWords(bytes)).toBeNull();
  });
});

import { describe, expect, test } from "vitest";
import { SessionStart, sessionStatement } from "../../../../src/store/connection/driver/session-start.ts";

/** A message of the server. */
function message(type: string, body = ""): Buffer {
  const head = Buffer.alloc(5);
  head.write(type);
  head.writeUInt32BE(body.length + 4, 1);
  return Buffer.concat([head, Buffer.from(body)]);
}

const LOGIN = [message("R", "\0\0\0\0"), message("S", "TimeZone\0Asia/Tokyo\0"), message("K", "12345678")];
const READY = message("Z", "I");
const CHANGED = message("S", "TimeZone\0UTC\0");
const ANSWER = [message("T", "columns"), message("D", "row"), message("C", "SELECT 1\0")];
const FIRST = [message("T", "of a statement of the driver's"), message("E", "its own error")];
const ERROR = message("E", "no such setting");

/** What the driver hears and the server is told when these bytes come in pieces of this size. */
function play(bytes: Buffer, size: number) {
  const start = new SessionStart("select 1");
  const heard: Buffer[] = [];
  const told: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += size) {
    const { toDriver, toServer } = start.receive(bytes.subarray(at, at + size));
    heard.push(toDriver);
    if (toServer !== null) told.push(toServer);
  }
  return { heard: Buffer.concat(heard), told: Buffer.concat(told), state: start.state };
}

describe("the start of a session", () => {
  test.each([
    1, 2, 7, 1000,
  ])("tells the driver that it is ready once the settings are made, in pieces of %i bytes", (size) => {
    const bytes = Buffer.concat([...LOGIN, READY, CHANGED, ...ANSWER, READY, ...FIRST]);
    expect(play(bytes, size)).toEqual({
      heard: Buffer.concat([...LOGIN, CHANGED, READY, ...FIRST]),
      told: message("Q", "select 1\0"),
      state: "open",
    });
  });

  test.each([
    1, 1000,
  ])("tells the driver of settings that are refused, and never that it is ready, in pieces of %i bytes", (size) => {
    const bytes = Buffer.concat([...LOGIN, READY, ERROR, READY]);
    const { heard, state } = play(bytes, size);
    expect({ heard, state }).toEqual({ heard: Buffer.concat([...LOGIN, ERROR]), state: "refused" });
  });

  test("tells the driver of a login that is refused", () => {
    expect(play(ERROR, 3)).toEqual({ heard: ERROR, told: Buffer.alloc(0), state: "login" });
  });

  test.each([0, 3, 2 ** 20 + 1, 2 ** 32 - 1])("takes a message of %i bytes for no Postgres", (length) => {
    const head = Buffer.from("R\0\0\0\0");
    head.writeUInt32BE(length, 1);
    expect(() => new SessionStart("select 1").receive(head)).toThrow("does not speak Postgres");
  });
});

describe("sessionStatement", () => {
  test("lets the later of two values hold, whatever their case, and ours in the end", () => {
    const statement = sessionStatement({ Work_Mem: "1MB", timezone: "Asia/Tokyo" }, { work_mem: "2MB" });
    expect(statement).toContain("E'work_mem', E'2MB'");
    expect(statement).toContain("E'timezone', E'UTC'");
    expect(statement).not.toMatch(/1MB|Tokyo/);
  });

  test("quotes what comes from outside", () => {
    expect(sessionStatement({ "a'b": String.raw`\' c` })).toContain(String.raw`E'a''b', E'\\'' c'`);
  });
});

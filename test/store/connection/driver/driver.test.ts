import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { connect as connectTls, createServer as createTlsServer } from "node:tls";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { systemClock } from "../../../../src/base/clock.ts";
import { DriverSocket, lastWords } from "../../../../src/store/connection/driver/driver-socket.ts";
import {
  type SessionSettings,
  SessionStart,
  sessionSettings,
} from "../../../../src/store/connection/driver/session-start.ts";
import { HAS_OPENSSL, makeCertificate } from "../../../support/certificate.ts";
import { listenOnLoopback } from "../../../support/free-port.ts";

const PLACE = { host: "127.0.0.1", port: 5432 };
const server = createServer();
let open: () => Promise<{ raw: Socket; far: Socket }>;

beforeAll(async () => {
  const { port } = await listenOnLoopback(server);
  open = async () => {
    const arrived = once(server, "connection");
    const raw = connect(Number(port), "127.0.0.1");
    const [far] = (await arrived) as [Socket];
    await once(raw, "connect");
    return { raw, far };
  };
});
afterAll(() => server.close());

function listen(socket: DriverSocket): string[] {
  const heard: string[] = [];
  socket.on("error", ({ code }: { code: string }) => heard.push(code));
  socket.on("close", () => heard.push("close"));
  return heard;
}

const SETTINGS: SessionSettings = { own: (pid) => `own ${pid}`, lent: "lent", local: "local" };

const closed = (socket: DriverSocket) => new Promise((resolve) => socket.once("close", resolve));

describe("a connection that is lost", () => {
  test("is an error for who waits, and closed only when nobody has written for a turn", async () => {
    const { raw, far } = await open();
    const socket = new DriverSocket(raw, PLACE, SETTINGS);
    const heard = listen(socket);
    far.destroy();
    await once(socket, "error");
    expect(heard).toEqual(["CONNECTION_CLOSED"]);
    expect(socket.readyState).toBe("closed");
    const told: unknown[] = [];
    socket.write(Buffer.from("a statement"), (error) => told.push(error));
    await closed(socket);
    expect(heard).toEqual(["CONNECTION_CLOSED", "CONNECTION_CLOSED", "close"]);
    expect(told).toMatchObject([{ code: "CONNECTION_CLOSED" }]);
  });

  test.skipIf(!HAS_OPENSSL)("still says when the certificate ends that proved its server", async () => {
    const { cert, key } = makeCertificate("IP:127.0.0.1");
    const secured = createTlsServer({ cert, key }).listen(0, "127.0.0.1");
    await once(secured, "listening");
    const raw = connectTls({ port: (secured.address() as AddressInfo).port, host: "127.0.0.1", ca: cert });
    await once(raw, "secureConnect");
    const socket = new DriverSocket(raw, PLACE, SETTINGS);
    listen(socket);
    raw.destroy();
    expect(socket.certificateEnd).toEqual(new Date(new X509Certificate(cert).validTo));
    await closed(socket);
    secured.close();
  });

  test("lets what is ready be written before it is told", async () => {
    const loss = Object.assign(new Error("refused"), { code: "ECONNREFUSED" });
    const socket = new DriverSocket(null, { ...PLACE, loss }, SETTINGS);
    const heard = listen(socket);
    expect(heard).toEqual([]);
    await closed(socket);
    expect(heard).toEqual(["ECONNREFUSED", "close"]);
  });

  test("ends nothing when the driver has let go of it", async () => {
    const { raw, far } = await open();
    const socket = new DriverSocket(raw, PLACE, SETTINGS);
    far.destroy();
    await closed(socket);
    socket.write(Buffer.from("a statement"));
    await systemClock.sleep(20);
    expect(socket.readyState).toBe("closed");
  });
});

function message(type: string, content = ""): Buffer {
  const text = Buffer.from(content, "utf8");
  const head = Buffer.alloc(5);
  head.write(type, 0, "latin1");
  head.writeUInt32BE(text.length + 4, 1);
  return Buffer.concat([head, text]);
}

const FATAL = message("E", "SFATAL\0VFATAL\0C57P01\0Mgehen, während andere bleiben\0\0");

describe("the last words of a server", () => {
  test("are its error at the end, whatever comes before", () => {
    for (const bytes of [FATAL, Buffer.concat([message("D", "E".repeat(9000)), FATAL])])
      expect(lastWords(bytes)).toBe("gehen, während andere bleiben (57P01)");
  });

  test.each([
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

const LOGIN = [message("R", "\0\0\0\0"), message("S", "TimeZone\0Asia/Tokyo\0"), message("K", "12345678")];
const READY = message("Z", "I");
const CHANGED = message("S", "TimeZone\0UTC\0");
const ANSWER = [message("T", "columns"), message("D", "row"), message("C", "SELECT 1\0")];
const FIRST = [message("T", "of a statement of the driver's"), message("E", "its own error")];
const ERROR = message("E", "no such setting");

/** What the driver hears and the server is told when these bytes come in pieces of this size. */
function play(bytes: Buffer, size: number) {
  const start = new SessionStart(SETTINGS);
  const heard: Buffer[] = [];
  const told: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += size) {
    const { toDriver, toServer } = start.receive(bytes.subarray(at, at + size));
    heard.push(toDriver);
    told.push(toServer);
  }
  return { heard: Buffer.concat(heard), told: Buffer.concat(told), state: start.state };
}

describe("the start of a session", () => {
  test.each([
    1, 2, 7, 1000,
  ])("tells the driver that it is ready once the settings are made, in pieces of %i", (size) => {
    const bytes = Buffer.concat([...LOGIN, READY, CHANGED, ...ANSWER, READY, ...FIRST]);
    expect(play(bytes, size)).toEqual({
      heard: Buffer.concat([...LOGIN, CHANGED, READY, ...FIRST]),
      told: message("Q", "own 825373492\0"),
      state: "open",
    });
  });

  test.each([
    1, 1000,
  ])("makes those that a pooler keeps where it lends the session, in pieces of %i", (size) => {
    const [columns, , complete] = ANSWER;
    const none = [columns ?? "", complete ?? ""].map((one) => Buffer.from(one));
    const bytes = Buffer.concat([...LOGIN, READY, ...none, READY, CHANGED, ...ANSWER, READY, ...FIRST]);
    expect(play(bytes, size)).toEqual({
      heard: Buffer.concat([...LOGIN, CHANGED, READY, ...FIRST]),
      told: Buffer.concat([message("Q", "own 825373492\0"), message("Q", "lent\0")]),
      state: "open",
    });
  });

  test.each([
    1, 1000,
  ])("tells the driver of refused settings, and never that it is ready, in pieces of %i", (size) => {
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
    expect(() => new SessionStart(SETTINGS).receive(head)).toThrow("does not speak Postgres");
  });
});

test("a connection says again and again that an answer is owed, until the last of several has come", async () => {
  const { raw, far } = await open();
  let silences = 0;
  const socket = new DriverSocket(raw, PLACE, SETTINGS, { silentMs: 10, onSilent: () => silences++ });
  const answer = async () => {
    const heard = once(raw, "data");
    far.write(message("Z", "I"));
    await heard;
  };
  const isSilent = async () => {
    const before = silences;
    await systemClock.sleep(50);
    return silences > before;
  };
  for (let time = 0; time < 3; time++) await answer();
  expect(await isSilent()).toBe(false);
  socket.write(Buffer.concat([message("Q", "one"), message("S"), message("H")]));
  for (const isOwed of [true, true, false]) {
    expect(await isSilent()).toBe(isOwed);
    await answer();
  }
  socket.destroy();
});

describe("the settings of a session", () => {
  test("are the later of two values, whatever their case, and ours in the end", () => {
    const { own, lent, local } = sessionSettings(
      { Work_Mem: "1MB", timezone: "Asia/Tokyo" },
      { work_mem: "2MB" },
    );
    expect(own(7)).toContain("E'work_mem', E'2MB'");
    expect(own(7)).toContain("E'timezone', E'UTC'");
    expect(own(7)).toMatch(/'lock_timeout'.*5min.* where pg_catalog.pg_backend_pid\(\) = 7$/);
    expect(own(7)).not.toMatch(/1MB|Tokyo/);
    expect(lent).toMatch(/^select [^;]*E'timezone', E'UTC'[^;]*$/);
    expect(lent).not.toContain("work_mem");
    expect(local).toContain(`set local "work_mem" = E'2MB'`);
    expect(local).not.toMatch(/timezone|lock_timeout/);
  });

  test("are quoted where they come from outside", () => {
    const { own, local } = sessionSettings({ "a'b\"c": String.raw`\' c`, search_path: `public, "it's"` });
    expect(own(1)).toContain(String.raw`E'a''b"c', E'\\'' c'`);
    expect(local).toContain(String.raw`set local "a'b""c" = E'\\'' c'`);
    expect(local).toContain(`set local "search_path" = E'public', E'it''s'`);
  });
});

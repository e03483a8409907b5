import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { systemClock } from "../../../../src/base/clock.ts";
import { DriverSocket, lastWords } from "../../../../src/store/connection/driver/driver-socket.ts";

const PLACE = { host: "127.0.0.1", port: 5432 };
const server = createServer();
let open: () => Promise<{ raw: Socket; far: Socket }>;

beforeAll(async () => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" ? (address?.port ?? 0) : 0;
  open = async () => {
    const arrived = once(server, "connection");
    const raw = connect(port, "127.0.0.1");
    const [far] = (await arrived) as [Socket];
    await once(raw, "connect");
    return { raw, far };
  };
});
afterAll(() => server.close());

/** What the driver hears, in its order. */
function listen(socket: DriverSocket): string[] {
  const heard: string[] = [];
  socket.on("error", ({ code }: { code: string }) => heard.push(code));
  socket.on("close", () => heard.push("close"));
  return heard;
}

const closed = (socket: DriverSocket) => new Promise((resolve) => socket.once("close", resolve));

describe("a connection that is lost", () => {
  test("is an error for who waits, and closed only when nobody has written for a turn", async () => {
    const { raw, far } = await open();
    const socket = new DriverSocket(raw, PLACE, "");
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

  test("lets what is ready be written before it is told", async () => {
    const loss = Object.assign(new Error("refused"), { code: "ECONNREFUSED" });
    const socket = new DriverSocket(null, { ...PLACE, loss }, "");
    const heard = listen(socket);
    expect(heard).toEqual([]);
    await closed(socket);
    expect(heard).toEqual(["ECONNREFUSED", "close"]);
  });

  test("ends nothing when the driver has let go of it", async () => {
    const { raw, far } = await open();
    const socket = new DriverSocket(raw, PLACE, "");
    far.destroy();
    await closed(socket);
    socket.write(Buffer.from("a statement"));
    await systemClock.sleep(20);
    expect(socket.readyState).toBe("closed");
  });
});

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
  test("are its error at the end, whatever comes before", () => {
    expect(lastWords(FATAL)).toBe("gehen, während andere bleiben (57P01)");
    expect(lastWords(Buffer.concat([message("D", "E".repeat(9000)), FATAL]))).toBe(
      "gehen, während andere bleiben (57P01)",
    );
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

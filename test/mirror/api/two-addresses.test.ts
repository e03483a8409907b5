import dns from "node:dns";
import { createServer, type Server } from "node:net";
import { expect, it, vi } from "vitest";
import { createTestClient } from "../../support/client.ts";
import { startScriptedServer } from "../../support/scripted-server.ts";

type Found = (error: null, addresses: { address: string; family: number }[]) => void;
interface Handle {
  connect(request: object, address: string, port: number): number;
}

/** Node connects by a handle of its own, so the wire is made longer below that. */
function slowConnections(ms: number) {
  const server: Server & { _handle?: object } = createServer().listen(0);
  const prototype = Object.getPrototypeOf(server._handle) as Handle;
  server.close();
  const { connect } = prototype;
  return vi.spyOn(prototype, "connect").mockImplementation(function (this: Handle, request, address, port) {
    setTimeout(() => connect.call(this, request, address, port), ms);
    return 0;
  });
}

it.each([
  ["is dead", "127.0.0.2"],
  ["comes first and is dead", "127.0.0.2"],
])("a service 400 ms away is reached although its other address %s", async (what, dead) => {
  await using server = await startScriptedServer([{ body: { it: "answers" } }]);
  const addresses = ["127.0.0.1", dead].map((address) => ({ address, family: 4 }));
  if (what.includes("first")) addresses.reverse();
  using connected = slowConnections(400);
  using _ = vi
    .spyOn(dns, "lookup")
    .mockImplementation(((_host: string, _options: object, found: Found) => found(null, addresses)) as never);
  await using client = createTestClient(`http://docs.invalid:${server.url.port}`, { retries: 0 });
  const { value } = await client.fetchJson("/api/v1/", { parse: (body) => body });
  expect(value).toEqual({ it: "answers" });
  expect(connected.mock.calls[0]?.[1]).toBe(addresses[0]?.address);
});

import type { DatabaseAddress } from "../database-url.ts";
import { DriverSocket } from "./driver-socket.ts";
import { openSocket } from "./open-socket.ts";

export interface SocketOpener {
  /** The hosts as the driver has to see them: it counts them to know how often to try. */
  hosts: string[];
  /** The connections, opened or opening. */
  sockets: Set<DriverSocket>;
  /** The driver's option `socket`. */
  socket(): Promise<DriverSocket>;
}

export interface SocketOpenerOptions {
  timeoutMs: number;
  /** The first statement of each session. */
  settings: string;
  /** Called when a connection in use is lost. */
  onLost(): void;
  /** Whether no connection is wanted any more. */
  isRetired(): boolean;
}

/**
 * Opens the connections of a pool, each to the first host that answers. With several hosts postgres.js hides an error
 * and tries again. That is right after a server of the wrong kind (target_session_attrs). It is wrong when no server
 * answers: we have to see that error.
 */
export function createSocketOpener(address: DatabaseAddress, options: SocketOpenerOptions): SocketOpener {
  const { timeoutMs, settings, onLost, isRetired } = options;
  const sockets = new Set<DriverSocket>();
  const hosts = address.hosts.map(({ host }) => host);
  if (address.targetSessionAttrs === undefined) hosts.splice(1);
  let firstHost = 0;

  // An error thrown here would cost the pool this connection for good. So a failed connection is returned as
  // a socket that is already lost.
  async function socket(): Promise<DriverSocket> {
    const [first = { host: "", port: 0 }] = address.hosts;
    let loss = Object.assign(new Error("the connection was lost"), { code: "CONNECTION_CLOSED" });
    hosts.splice(0, hosts.length, ...address.hosts.slice(0, hosts.length).map(({ host }) => host));
    for (let tried = 0; tried < address.hosts.length && !isRetired(); tried++) {
      const place = address.hosts[(firstHost + tried) % address.hosts.length] ?? first;
      try {
        const opened = await openSocket(place, address.tls, timeoutMs);
        if (address.targetSessionAttrs !== undefined) firstHost += tried + 1;
        const socket = new DriverSocket(opened, place, settings, onLost);
        sockets.add(socket);
        socket.once("close", () => sockets.delete(socket));
        return socket;
      } catch (error) {
        loss = error as typeof loss;
      }
    }
    hosts.splice(1);
    return new DriverSocket(null, { ...first, loss }, settings);
  }

  return { hosts, sockets, socket };
}

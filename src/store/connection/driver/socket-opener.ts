import type { DatabaseAddress } from "../database-url.ts";
import { DriverSocket } from "./driver-socket.ts";
import { openSocket } from "./open-socket.ts";
import { nameKind, SESSION_ATTRS, type ServerKind } from "./server-kind.ts";
import { sessionStatement } from "./session-settings.ts";

type Place = DatabaseAddress["hosts"][number];

export interface SocketOpener {
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
  /** Logs in over a new connection, asks, and closes it. */
  findKind(socket: DriverSocket): Promise<ServerKind>;
}

/**
 * Opens the connections of a pool, each to the first host that answers and is of the wanted kind. The driver could choose
 * too, but it takes a standby for a server that writes, hides why no host answers, and asks again without a pause while none
 * is right. So the driver knows of one host, and a connection of its own asks each server first.
 */
export function createSocketOpener(address: DatabaseAddress, options: SocketOpenerOptions): SocketOpener {
  const { timeoutMs, settings, onLost, isRetired, findKind } = options;
  const sockets = new Set<DriverSocket>();
  const { hosts, targetSessionAttrs } = address;
  const rounds = targetSessionAttrs === undefined ? [null] : (SESSION_ATTRS[targetSessionAttrs] ?? []);

  async function open(place: Place, statement: string, lost?: () => void): Promise<DriverSocket> {
    const socket = new DriverSocket(await openSocket(place, address.tls, timeoutMs), place, statement, lost);
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
    return socket;
  }

  /** A session of ours may be read-only by its own settings, which say nothing about the server. */
  async function ask(place: Place): Promise<ServerKind> {
    const asked = await open(place, sessionStatement(address.session));
    const timer = setTimeout(() => asked.abandon(), timeoutMs);
    return findKind(asked).finally(() => clearTimeout(timer));
  }

  // An error thrown here would cost the pool this connection for good. So a failed connection is returned as
  // a socket that is already lost.
  async function socket(): Promise<DriverSocket> {
    const [first = { host: "", port: 0 }] = hosts;
    let loss: Error | null = null;
    let isWrong = false;
    /** By host, what the last try found. */
    const found = new Map<string, string>();
    for (const choice of rounds) {
      for (const place of hosts) {
        if (isRetired()) break;
        const name = `${place.host}:${place.port}`;
        try {
          const kind = choice === null ? null : await ask(place);
          if (kind === null || choice?.(kind)) return await open(place, settings, onLost);
          isWrong = true;
          found.set(name, nameKind(kind));
        } catch (error) {
          loss = error as Error;
          found.set(name, `gave ${String((loss as { code?: unknown }).code ?? loss.message)}`);
        }
      }
    }
    // A server of the wrong kind says more than one that does not answer.
    if (isWrong) {
      const all = [...found].map((one) => one.join(" ")).join(", ");
      loss = fault("WRONG_SERVERS", `no server is what target_session_attrs asks for: ${all}`);
    }
    loss ??= fault("CONNECTION_CLOSED", "the connection was lost");
    return new DriverSocket(null, { ...first, loss }, settings);
  }

  return { sockets, socket };
}

function fault(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}

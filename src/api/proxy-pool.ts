import { type Dispatcher, errors, Pool } from "undici";

/** A tunnel that a proxy did not make. The reason is the status that it answered, or the cause. */
export class TunnelError extends Error {
  override name = "TunnelError";
  /** Null where it answered nothing. */
  readonly status: number | null;

  constructor(status: number | null, cause?: unknown) {
    super("the proxy made no tunnel", { cause });
    this.status = status;
  }
}

/**
 * The connections to a proxy over which tunnels are asked for. As undici 7 has it, one that the proxy closes meanwhile is asked for again
 * and again, without a pause and without an end (nodejs/undici#3897), because its error looks like that of an idle connection. In a class
 * of its own it also shows that it was the proxy, not the service, that failed.
 */
export class ProxyPool extends Pool {
  override async connect(options: Dispatcher.ConnectOptions): Promise<Dispatcher.ConnectData> {
    let reply: Dispatcher.ConnectData;
    try {
      reply = await super.connect(options);
    } catch (error) {
      throw error instanceof errors.ClientDestroyedError ? error : new TunnelError(null, error);
    }
    if (reply.statusCode === 200) return reply;
    reply.socket.on("error", () => {}).destroy();
    throw new TunnelError(reply.statusCode);
  }
}

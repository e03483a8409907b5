import { type Dispatcher, errors, Pool } from "undici";
import { TunnelError } from "./tunnel-error.ts";

/**
 * The connections to a proxy, used to open tunnels. When the proxy closes one, undici 7 retries without a
 * pause and without an end (nodejs/undici#3897), because the error looks like that of an idle connection.
 * `TunnelError` prevents that. It also shows that the proxy failed, not the service.
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

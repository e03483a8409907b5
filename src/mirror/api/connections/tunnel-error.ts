/** The proxy did not open a tunnel. `status` or `cause` says why. */
export class TunnelError extends Error {
  override name = "TunnelError";
  /** Null when it did not answer. */
  readonly status: number | null;

  constructor(status: number | null, cause?: unknown) {
    super("the proxy opened no tunnel", { cause });
    this.status = status;
  }
}

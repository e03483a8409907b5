/** How the requests of a call may differ from those of the client. */
export interface CallOptions {
  /** Aborts this call alone. It rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
  /** Milliseconds for one try of each request. @default that of the client */
  timeoutMs?: number | undefined;
  /** Tries after the first, 0 to 100, also more than those of the client. @default that of the client */
  retries?: number | undefined;
  /** Sent in addition to those of the client; of one name, these count. @default none */
  headers?: Readonly<Record<string, string>> | undefined;
}

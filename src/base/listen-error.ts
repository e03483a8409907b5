import { ConfigError } from "./errors.ts";

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: "another program listens there",
  EACCES: "the permission for it is missing",
  EADDRNOTAVAIL: "this machine has no such address",
  ENOTFOUND: "the host is unknown",
};

/** Says in one sentence why a server cannot listen at an address that the user named. Any other error is returned unchanged. */
export function toListenError(
  error: unknown,
  { host, port, hint }: { host: string; port: number; hint: string },
): unknown {
  const reason = REASONS[(error as NodeJS.ErrnoException).code ?? ""];
  if (reason === undefined) return error;
  return new ConfigError(`could not listen on ${host}, port ${port}: ${reason}`, { cause: error, hint });
}

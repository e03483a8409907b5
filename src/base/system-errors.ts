import { ConfigError, MirrorError } from "./errors.ts";

/** What the system says of a place that cannot be written to, with what to do about it. */
const FAULTS: Readonly<Record<string, readonly [what: string, hint: string]>> = {
  EACCES: ["no permission to write there", "choose a place that you may write to"],
  EPERM: ["no permission to write there", "choose a place that you may write to"],
  EROFS: ["it cannot be written to", "choose a place that can be written to"],
  ENOENT: ["its folder is not there, or takes no files", "choose another place"],
  ENOTDIR: ["a file is in the way", "choose another place"],
  EEXIST: ["a file is in the way", "choose another place"],
  EISDIR: ["it is a folder", "name a file"],
  ELOOP: ["it is a link to itself", "choose another place"],
  ENAMETOOLONG: ["its name is too long", "choose another name"],
  ENOSPC: ["the disk is full", "make room on the disk"],
  EDQUOT: ["the disk quota is used up", "make room on the disk"],
  EFBIG: ["it is longer than the system allows", "choose another disk, or raise the limit (ulimit -f)"],
  EIO: ["the disk fails", "choose another disk"],
  EBUSY: ["it is a mount point", "name a folder in it"],
  EXDEV: ["it is a mount point", "name a folder in it"],
  ENOTEMPTY: ["something else was written there meanwhile", "try again"],
  EINVAL: ["it takes no such files", "choose another place"],
  ENOSYS: ["it takes no such files", "choose another place"],
};

/**
 * Says in one sentence why `place` could not be written. The place was named by the user, so it is no bug. Any other
 * error is returned unchanged.
 */
export function toOutputError(error: unknown, place: string): unknown {
  if (error instanceof MirrorError) return error;
  const { code = "" } = (error instanceof Error ? error : {}) as NodeJS.ErrnoException;
  const [what, hint] = FAULTS[code] ?? [];
  if (what === undefined) return error;
  return new ConfigError(`could not write to ${place}: ${what} (${code})`, { cause: error, hint });
}

/** Runs `fn`, and explains its failures as `toOutputError` does. */
export async function withOutputErrors<T>(place: string, fn: () => Promise<T>): Promise<T> {
  try {
    return await fn();
  } catch (error) {
    throw toOutputError(error, place);
  }
}

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

import { sqlstateOf } from "./store-errors.ts";

/**
 * What a standby answers when it cancels a query that holds up the changes it must replay: a failed
 * serialization, or a deadlock with the replay. A read-only transaction gets neither for another reason.
 */
const CONFLICTS: readonly (string | undefined)[] = ["40001", "40P01"];

/** Whether a standby cancelled this read, so that the same read may succeed now. */
export function isRecoveryConflict(error: unknown): boolean {
  return CONFLICTS.includes(sqlstateOf(error));
}

/**
 * Runs a read, and once more where a standby cancelled it. `mayRepeat` says whether that does no harm, such
 * as sending rows twice. @default it never does
 */
export async function repeatAfterConflict<T>(
  read: () => Promise<T>,
  mayRepeat: () => boolean = () => true,
): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (!isRecoveryConflict(error) || !mayRepeat()) throw error;
    return read();
  }
}

import { spawnSync } from "node:child_process";
import { statSync } from "node:fs";
import { StoreError } from "../../base/errors.ts";
import { SERVER_ACCOUNT, type ServerAccount } from "./account.ts";

/** Throws StoreError when the data has another owner: Postgres starts for the owner alone, even for root. */
export function assertOwner(
  { cluster, dataDir }: { cluster: string; dataDir: string },
  account: ServerAccount,
): void {
  const uid = account.spawnAs.uid ?? process.geteuid?.();
  const owner = ownerOf(cluster);
  if (owner !== undefined && uid !== undefined && owner !== uid) throw ownedBy(owner, dataDir);
}

/** The same error for a folder that the system denied. Null for our own folder, and when the owner is unknown. */
export function foreignOwnerError(dataDir: string, cause: unknown): StoreError | null {
  const owner = ownerOf(dataDir);
  if (owner === undefined || owner === process.geteuid?.()) return null;
  return ownedBy(owner, dataDir, cause);
}

function ownedBy(uid: number, dataDir: string, cause?: unknown): StoreError {
  const name = nameOf(uid);
  const madeByRoot =
    name === SERVER_ACCOUNT
      ? `; that user also owns the data that root created, so it may have been root`
      : "";
  return new StoreError(`The data in ${dataDir} belongs to user ${name}; run docmirror as that user`, {
    cause,
    hint: `or set DOCMIRROR_DATA_DIR to another folder${madeByRoot}`,
  });
}

function ownerOf(path: string): number | undefined {
  try {
    return statSync(path).uid;
  } catch {
    return undefined;
  }
}

/** The name of the user, or the number if the system knows no name. */
function nameOf(uid: number): string {
  const name = spawnSync("id", ["-un", String(uid)], { encoding: "utf8" }).stdout?.trim() ?? "";
  return name === "" ? String(uid) : name;
}

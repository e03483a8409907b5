/** A server of `DATABASE_URL`, as `target_session_attrs` chooses among them. */
export interface ServerKind {
  /** It follows a primary, and takes no writes. */
  isStandby: boolean;
  /** Its sessions take no writes unless they say otherwise. */
  isReadOnly: boolean;
}

/** As in "db1:5432 is a standby". */
export function nameKind({ isStandby, isReadOnly }: ServerKind): string {
  if (isStandby) return "is a standby";
  return isReadOnly ? "takes no writes" : "is a primary";
}

type Choice = (kind: ServerKind) => boolean;

const isStandby: Choice = (kind) => kind.isStandby;
const takesWrites: Choice = (kind) => !kind.isStandby && !kind.isReadOnly;

/** What each value of `target_session_attrs` wants, with the meanings that libpq gives them: a choice for each round over the hosts. */
export const SESSION_ATTRS: Record<string, readonly Choice[]> = {
  "read-write": [takesWrites],
  "read-only": [(kind) => !takesWrites(kind)],
  primary: [(kind) => !kind.isStandby],
  standby: [isStandby],
  "prefer-standby": [isStandby, () => true],
};

/**
 * The highest ids that were known, pass by pass. A service gives its records rising numbers, so a record with a
 * higher id than all that were known before a pass came after that.
 */
export interface HighestIds {
  /** Call it when a pass begins. */
  beginPass(): void;
  /** Takes an id from a page. */
  take(id: string): void;
  /** Takes a number that was an id before the walk began. */
  know(id: number): void;
  /**
   * Whether a record is newer than the begin of the previous pass. False for an id that is no number, and as
   * long as no number was known then.
   */
  isNewer(id: string): boolean;
}

export function createHighestIds(): HighestIds {
  /** Now, before this pass, and before the previous one. */
  let now = Number.NEGATIVE_INFINITY;
  let beforePass = now;
  let beforeLastPass = now;
  return {
    beginPass() {
      [beforeLastPass, beforePass] = [beforePass, now];
    },
    take(id) {
      now = Math.max(now, numberOf(id) ?? now);
    },
    know(id) {
      [now, beforePass, beforeLastPass] = [
        Math.max(now, id),
        Math.max(beforePass, id),
        Math.max(beforeLastPass, id),
      ];
    },
    isNewer(id) {
      const number = numberOf(id);
      return number !== null && Number.isFinite(beforeLastPass) && number > beforeLastPass;
    },
  };
}

/** The number that an id spells, or null. */
function numberOf(id: string): number | null {
  return /^\d{1,15}$/.test(id) ? Number(id) : null;
}

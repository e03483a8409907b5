/**
 * The highest ids that were known, pass by pass. A service gives its records rising numbers, so a record with a
 * higher id than all that were known before a pass came after that.
 */
export function createHighestIds() {
  /** Now, before this pass, and before the previous one. */
  let now = Number.NEGATIVE_INFINITY;
  let beforePass = now;
  let beforeLastPass = now;
  return {
    beginPass(): void {
      [beforeLastPass, beforePass] = [beforePass, now];
    },
    take(id: string): void {
      now = Math.max(now, numberOf(id) ?? now);
    },
    /** Takes a number that was an id before the walk began. */
    know(id: number): void {
      now = Math.max(now, id);
      beforePass = Math.max(beforePass, id);
      beforeLastPass = Math.max(beforeLastPass, id);
    },
    /** Whether a record came after the previous pass began. False for no number, and with none known. */
    isNewer(id: string): boolean {
      const number = numberOf(id);
      return number !== null && Number.isFinite(beforeLastPass) && number > beforeLastPass;
    },
  };
}

/** The number that an id spells, or null. */
function numberOf(id: string): number | null {
  return /^\d{1,15}$/.test(id) ? Number(id) : null;
}

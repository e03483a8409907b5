/** Gives all who ask within `keepMs` one answer. Who asks while it is being made waits. A failure is kept as long. */
export function createBriefAnswer<T>(
  make: () => Promise<T>,
  keepMs: number,
  /** Milliseconds of a clock that never goes back. */
  nowMs: () => number = () => performance.now(),
): () => Promise<T> {
  let kept: { answer: Promise<T>; untilMs: number } | null = null;

  return () => {
    if (kept !== null && nowMs() < kept.untilMs) return kept.answer;
    const fresh = { answer: make(), untilMs: Number.POSITIVE_INFINITY };
    kept = fresh;
    const settle = () => {
      fresh.untilMs = nowMs() + keepMs;
    };
    fresh.answer.then(settle, settle);
    return fresh.answer;
  };
}

/** A request that is refused: 400 with `{"error": message}`. */
export class Refusal extends Error {
  override name = "Refusal";
}

/**
 * A catalog does not know the whole list, or not this record of it, yet. An answer would look like deletions.
 */
export class NotReadyError extends Error {
  override name = "NotReadyError";
}

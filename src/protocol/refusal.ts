/** A request that is refused: 400 with `{"error": message}`. */
export class Refusal extends Error {
  override name = "Refusal";
}

/** A catalog does not know the whole list yet. An answer from a part of it would look like deletions. */
export class NotReadyError extends Error {
  override name = "NotReadyError";
}

/** A request that is refused: 400 with `{"error": message}`. */
export class Refusal extends Error {
  override name = "Refusal";
}

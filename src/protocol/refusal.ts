/** A request that cannot be answered as asked: 400 with `{"error": message}`. */
export class Refusal extends Error {
  override name = "Refusal";
}

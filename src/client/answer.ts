import type { Reply } from "../base/errors.ts";

/** What a call gave, with the reply that brought it. */
export interface Answer<T> {
  readonly value: T;
  readonly reply: Reply;
}

/** The promise of a value, which can be had with its reply too. */
export interface Call<T> extends Promise<T> {
  /** The value with status, headers and request id of the reply: `await service.fetchRoot().withReply()`. */
  withReply(): Promise<Answer<T>>;
}

export function callOf<T>(answer: Promise<Answer<T>>): Call<T> {
  const value = answer.then((came) => came.value);
  return Object.assign(value, {
    withReply() {
      // Who asks for both learns of the failure from the answer alone.
      value.catch(() => {});
      return answer;
    },
  });
}

import type postgres from "postgres";

/**
 * A pool or a transaction like `first` whose statements are those of `current()`, each made through `through`. `own` are its other
 * functions that differ.
 */
export function intercept<S extends postgres.ISql>(
  first: S,
  current: () => S,
  through: <R>(make: () => R) => R,
  own: Readonly<Record<PropertyKey, unknown>>,
): S {
  return new Proxy(first, {
    apply: (_first, self, args) => through(() => Reflect.apply(current() as never, self, args)),
    get(_first, name) {
      if (Object.hasOwn(own, name)) return own[name];
      const value: unknown = Reflect.get(current(), name);
      // The only other way to a statement (`composed`).
      if (name !== "unsafe" || typeof value !== "function") return value;
      return (...args: unknown[]) => through(() => Reflect.apply(value, undefined, args));
    },
  });
}

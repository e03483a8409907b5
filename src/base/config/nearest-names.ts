import leven from "leven";

/** The known names that a wrong name may mean, nearest first: a few letters differ, or it is part of the name. */
export function nearestNames(wrong: string, known: Iterable<string>, most = 3): string[] {
  const nearest = createNearest(wrong, most);
  for (const name of known) nearest.offer(name);
  return nearest.names();
}

/** True where two names differ in one letter, in two letters that changed places, or in how their words are written and joined. */
export function isAlmost(name: string, known: string): boolean {
  const plain = (text: string) => text.toUpperCase().replace(/[^A-Z0-9]/g, "");
  const letters = (text: string) => [...plain(text)].sort().join("");
  return leven(plain(name), plain(known)) <= (letters(name) === letters(known) ? 2 : 1);
}

/** The end of a sentence about a wrong name; empty where nothing is near. */
export function didYouMean(names: readonly string[]): string {
  return names.length === 0 ? "" : `; did you mean ${names.join(" or ")}?`;
}

/** Does the same for names that arrive one by one. */
export function createNearest(wrong: string, most = 3) {
  const sought = wrong.toLowerCase();
  // A name of which most letters differ is another name: nobody who types "foo" means "42".
  const maxDistance = Math.max(1, Math.floor(sought.length / 2));
  let ranked: { name: string; distance: number }[] = [];
  return {
    offer(name: string): void {
      const distance = distanceOf(sought, name.toLowerCase(), maxDistance);
      if (distance > maxDistance) return;
      ranked.push({ name, distance });
      ranked.sort((a, b) => a.distance - b.distance || (a.name < b.name ? -1 : 1));
      ranked = ranked.slice(0, most);
    },
    names: (): string[] => ranked.map(({ name }) => name),
  };
}

function distanceOf(sought: string, name: string, maxDistance: number): number {
  if (sought === name) return 0;
  if (sought.length > 2 && isPart(sought, name)) return 1;
  const begun = distanceFromBegin(sought, name);
  if (begun <= sought.length / 4) return 1 + begun;
  // Names that differ by more in length need not be compared: some are thousands of characters long.
  if (Math.abs(name.length - sought.length) > maxDistance) return Number.POSITIVE_INFINITY;
  return leven(sought, name);
}

/** The distance to the start of a longer name, where the start may be a letter longer or shorter. */
function distanceFromBegin(sought: string, name: string): number {
  if (sought.length < 5 || name.length <= sought.length) return Number.POSITIVE_INFINITY;
  return Math.min(...[-1, 0, 1].map((more) => leven(sought, name.slice(0, sought.length + more))));
}

function isPart(sought: string, name: string): boolean {
  const at = name.indexOf(sought);
  return at === 0 || (at > 0 && /[^a-z0-9]/.test(name[at - 1] ?? ""));
}

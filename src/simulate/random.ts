/** The purposes of random numbers. Two streams of one world are independent. */
export const STREAM = {
  user: 1,
  project: 2,
  version: 3,
  file: 4,
  build: 5,
  buildTexts: 6,
  fileText: 7,
  history: 8,
  event: 9,
  clock: 10,
  incident: 11,
  order: 12,
  failures: 13,
  cancelled: 14,
} as const;

/** A whole number below 2^32, by its three arguments alone: any record can be computed again from its id. */
export function hash(seed: number, stream: number, id: number): number {
  let h = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) ^ Math.imul(stream + 1, 0xc2b2ae35) ^ (id | 0);
  h = Math.imul(h ^ (h >>> 16), 0x7feb352d);
  h = Math.imul(h ^ (h >>> 15), 0x846ca68b) ^ Math.imul((id / 0x100000000) | 0, 0x27d4eb2f);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

export type Random = ReturnType<typeof createRandom>;

/** The same seed gives the same numbers in the same order. Not for secrets. */
export function createRandom(seed: number) {
  let state = seed | 0;
  function next(): number {
    state = (state + 0x6d2b79f5) | 0;
    let h = Math.imul(state ^ (state >>> 15), state | 1);
    h = (h + Math.imul(h ^ (h >>> 7), h | 61)) ^ h;
    return ((h ^ (h >>> 14)) >>> 0) / 0x100000000;
  }
  return {
    /** At least 0 and less than 1. */
    next,
    /** A whole number, at least 0 and less than `below`. */
    int: (below: number) => Math.floor(next() * below),
    chance: (probability: number) => next() < probability,
    pick: <T>(choices: readonly [T, ...T[]]): T => choices[Math.floor(next() * choices.length)] ?? choices[0],
    /** Exponentially distributed: the wait for an event that occurs every `mean` on average. */
    wait: (mean: number) => -Math.log(1 - next()) * mean,
    /** Normally distributed around 0 with deviation 1. */
    normal: () => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next()),
  };
}

type Words = [string, ...string[]];

const words = (text: string): Words => text.split(" ") as Words;

/** The vocabulary of names, paths and page contents. */
const WORDS = words(
  "acorn alder anvil arrow badger barley basil beech bramble breeze brick bronze candle canyon caravan chestnut " +
    "chisel clover cobble compass condor copper cotton cove cricket dahlia delta dune eagle elder ember falcon fennel " +
    "fern ferry finch fjord flint forest foxglove gable gannet garden garlic ginger glacier granite grove hammer " +
    "harvest hazel heather hedge heron hollow indigo island ivy jasper juniper kettle kiln lagoon lantern larch " +
    "lavender ledger linen lobster lupin magnet maple marsh meadow merlin mill mortar moss nettle nutmeg oak orchard " +
    "osprey otter oyster paddle parsley pebble pepper pine plover poplar prairie quarry quartz quince raven reed ridge " +
    "rudder saddle saffron sage sandal savanna shale shore sparrow spindle stork summit sundial tern thicket thimble " +
    "thistle timber trellis tulip turnip valley vessel vineyard walnut weaver willow wren yarrow zinnia",
);

export const FIRST_NAMES = words(
  "Agnes Amir Beata Bruno Chiara Dalia Edgar Elif Farid Greta Hugo Ilse Jana Kofi Lars Mira Noor Otto Paula Quentin " +
    "Rosa Samir Tilda Ugo Vera Wanda Yusuf Zoe",
);
export const LAST_NAMES = words(
  "Abbas Baker Costa Dahl Egger Fontaine Gruber Haas Iversen Jansen Kaya Lindqvist Mori Novak Okafor Petrov Quist Reyes " +
    "Silva Tran Urban Vogel Wolff Yamada Zeller",
);

/** Texts that users enter and no program expects. */
export const ODD_TEXTS: [string, ...string[]] = [
  "<script>alert(1)</script>",
  "<b>bold & bright</b>",
  "Dokumentáció — žluťoučký kůň",
  "文档 ドキュメント 문서",
  "مرحبا بالعالم",
  "🦊📚 e\u0301 zero\u200bwidth",
  "'; drop table builds; --",
  "\u001b[31mred\u001b[0m\ttab",
  "{{ 7 * 7 }} $HOME %s",
  "   blanks around   ",
];

export function word(random: Random): string {
  return random.pick(WORDS);
}

export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Some words as a sentence, with a capital letter and a full stop. */
export function sentence(random: Random, length: number): string {
  let text = capital(word(random));
  for (let i = 1; i < length; i++) text += ` ${word(random)}`;
  return `${text}.`;
}

import type { Random } from "./random.ts";

type Words = [string, ...string[]];

function words(text: string): Words {
  const [first = "", ...rest] = text.split(" ");
  return [first, ...rest];
}

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

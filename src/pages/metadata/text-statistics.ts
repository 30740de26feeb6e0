/** Maximum UTF-16 code units of a text from which its language is determined. */
const MAX_SAMPLE = 20_000;
/** Minimum share of letters that belong to a script, and of words that are frequent words of a language. */
const MIN_SCRIPT_SHARE = 0.4;
const MIN_WORD_SHARE = 0.05;
/** Minimum number of frequent words. */
const MIN_WORDS = 6;

/** Scripts that one language uses, or one language by far the most. */
const SCRIPTS: readonly (readonly [language: string, letters: RegExp])[] = [
  ["ko", /\p{Script=Hangul}/gu],
  ["zh", /\p{Script=Han}/gu],
  ["th", /\p{Script=Thai}/gu],
  ["he", /\p{Script=Hebrew}/gu],
  ["ar", /\p{Script=Arabic}/gu],
  ["hi", /\p{Script=Devanagari}/gu],
  ["el", /\p{Script=Greek}/gu],
  ["ru", /\p{Script=Cyrillic}/gu],
];
const KANA = /[\p{Script=Hiragana}\p{Script=Katakana}]/gu;
/** Letters of Ukrainian that Russian does not have, and of Persian that Arabic does not have. */
const UKRAINIAN = /[іїєґ]/gi;
const PERSIAN = /[پچژگ]/g;

/** The most frequent words of languages in Latin script. */
const FREQUENT_WORDS: Readonly<Record<string, string>> = {
  en: "the of and to in is that for it was on with as are this by from at have be",
  de: "der die und das den von zu mit sich des auf für ist im dem nicht ein eine als auch",
  fr: "le la les de des et en un une du que qui dans pour sur est pas au par avec",
  es: "el la los las de y en que un una del se por con para su no es al como",
  pt: "o os as de e que do da em um uma para com não no na por mais dos se",
  it: "il di che e la un una per del della in con non si sono le gli da nel i",
  nl: "de het een van en in is dat op te zijn voor met niet aan er om ook als bij",
  sv: "och att det som en på är av för med den till inte har om ett var jag men de",
  da: "og at det en den til er som på de med han af for ikke der var et har i",
  pl: "i w na z się nie do to że jest o jak za po od przez dla ale oraz był",
  tr: "ve bir bu için ile de da olarak çok en olan gibi daha ne kadar sonra var ama o ki",
  id: "yang dan di itu dengan untuk tidak ini dari dalam akan pada juga ke karena saya ada oleh bisa",
};

/** The language in which a text is written (ISO 639-1); null if the text is too short, or the language is not known. */
export function detectLanguage(text: string): string | null {
  const sample = text.slice(0, MAX_SAMPLE);
  const letters = count(sample, /\p{L}/gu);
  if (letters < 20) return null;
  if (count(sample, KANA) > letters * 0.1) return "ja";
  for (const [language, script] of SCRIPTS) {
    if (count(sample, script) < letters * MIN_SCRIPT_SHARE) continue;
    if (language === "ru" && count(sample, UKRAINIAN) > letters * 0.02) return "uk";
    return language === "ar" && count(sample, PERSIAN) > letters * 0.01 ? "fa" : language;
  }
  return detectByWords(sample.toLowerCase().match(/\p{L}+/gu) ?? []);
}

function detectByWords(words: readonly string[]): string | null {
  const ranked = Object.entries(FREQUENT_WORDS)
    .map(([language, frequent]) => {
      const known = new Set(frequent.split(" "));
      return { language, hits: words.filter((word) => known.has(word)).length };
    })
    .sort((a, b) => b.hits - a.hits);
  const [best, second] = ranked;
  if (best === undefined || best.hits < Math.max(MIN_WORDS, words.length * MIN_WORD_SHARE)) return null;
  return best.hits > (second?.hits ?? 0) * 1.1 ? best.language : null;
}

/** Number of words. Two characters of Chinese, Japanese and Thai count as one word: these scripts have no spaces. */
export function countWords(text: string): number {
  const unspaced = count(text, /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/gu);
  const words = count(
    text.replace(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]+/gu, " "),
    /[\p{L}\p{N}][\p{L}\p{N}\p{M}'’-]*/gu,
  );
  return words + Math.round(unspaced / 2);
}

function count(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0;
}

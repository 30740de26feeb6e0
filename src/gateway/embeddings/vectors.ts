/**
 * Number of features that each token adds to the vector. More features make the vectors of two tokens more nearly
 * orthogonal.
 */
const FEATURES_PER_TOKEN = 8;

/** FNV-1a over UTF-16 code units, then an avalanche step, so that similar inputs get very different hashes. */
function hashFeature(text: string, seed: number): number {
  let value = (0x811c9dc5 ^ seed) >>> 0;
  for (let index = 0; index < text.length; index += 1) {
    value = Math.imul(value ^ text.charCodeAt(index), 0x01000193);
  }
  value ^= value >>> 16;
  value = Math.imul(value, 0x7feb352d);
  value ^= value >>> 15;
  value = Math.imul(value, 0x846ca68b);
  return (value ^ (value >>> 16)) >>> 0;
}

/** Splits text into lower-case words, and into single characters for scripts that do not separate words. */
export function tokenizeText(text: string): string[] {
  return (
    text
      .normalize("NFKC")
      .toLowerCase()
      .match(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]|[\p{L}\p{N}_]+|[^\s\p{L}\p{N}_]/gu) ?? []
  );
}

/**
 * Computes a deterministic vector of unit length: signed feature hashing of tokens and of token pairs, weighted by the
 * square root of their counts. Texts with common words get similar vectors, and the same text always gets the same vector.
 */
export function embedTokens(tokens: readonly string[], dimensions: number): Float64Array {
  const counts = new Map<string, number>();
  for (const [index, token] of tokens.entries()) {
    counts.set(token, (counts.get(token) ?? 0) + 1);
    const next = tokens[index + 1];
    if (next !== undefined) counts.set(`${token} ${next}`, (counts.get(`${token} ${next}`) ?? 0) + 0.5);
  }
  // An empty text needs a direction, too.
  if (counts.size === 0) counts.set("", 1);
  const vector = new Float64Array(dimensions);
  for (const [feature, count] of counts) {
    const weight = Math.sqrt(count);
    for (let seed = 0; seed < FEATURES_PER_TOKEN; seed += 1) {
      const value = hashFeature(feature, seed);
      const slot = value % dimensions;
      vector[slot] = (vector[slot] ?? 0) + ((hashFeature(feature, seed + 97) & 1) === 0 ? weight : -weight);
    }
  }
  return normalizeVector(vector);
}

function normalizeVector(vector: Float64Array): Float64Array {
  let sum = 0;
  for (const value of vector) sum += value * value;
  // Opposite signs can cancel out, mainly with few dimensions.
  if (sum === 0) {
    vector[0] = 1;
    return vector;
  }
  const length = Math.sqrt(sum);
  return vector.map((value) => value / length);
}

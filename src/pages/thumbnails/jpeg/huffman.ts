/** The longest code that a JPEG may have, bits. */
const MAX_LENGTH = 16;

/** A code for each symbol that occurs. */
export interface HuffmanTable {
  /** How many codes there are of 1 to 16 bits. */
  readonly counts: readonly number[];
  /** The symbols, those of the shortest codes first. */
  readonly symbols: readonly number[];
  /** By symbol: its code, and how many bits that has. */
  readonly codes: Uint16Array;
  readonly lengths: Uint8Array;
}

interface Node {
  readonly weight: number;
  readonly symbols: readonly number[];
}

/**
 * The shortest code for symbols that occur so often (ITU T.81, K.2).
 *
 * @param frequencies by symbol, 0 to 255
 */
export function huffmanTable(frequencies: ArrayLike<number>): HuffmanTable {
  const depths = depthsOf(frequencies);
  const counts = boundedCounts(depths);
  // The reserved symbol had one of the longest codes: no code consists of ones alone.
  const symbols = [...depths]
    .filter(([symbol]) => symbol !== RESERVED)
    .sort(([a, depthA], [b, depthB]) => depthA - depthB || a - b)
    .map(([symbol]) => symbol);
  const last = counts.findLastIndex((count) => count > 0);
  counts[last] = (counts[last] ?? 1) - 1;
  const codes = new Uint16Array(256);
  const lengths = new Uint8Array(256);
  let code = 0;
  let next = 0;
  for (const [index, count] of counts.entries()) {
    for (let n = 0; n < count; n++) {
      const symbol = symbols[next++] ?? 0;
      codes[symbol] = code++;
      lengths[symbol] = index + 1;
    }
    code *= 2;
  }
  return { counts, symbols, codes, lengths };
}

/** Stands for a code that no symbol may have. */
const RESERVED = 256;

/** How deep each symbol lies in the tree, the reserved one too. */
function depthsOf(frequencies: ArrayLike<number>): Map<number, number> {
  let nodes: Node[] = [{ weight: 1, symbols: [RESERVED] }];
  for (let symbol = 0; symbol < RESERVED; symbol++) {
    const weight = frequencies[symbol] ?? 0;
    if (weight > 0) nodes.push({ weight, symbols: [symbol] });
  }
  const depths = new Map(nodes.flatMap(({ symbols }) => symbols.map((symbol) => [symbol, 0])));
  while (nodes.length > 1) {
    nodes = nodes.sort((a, b) => b.weight - a.weight);
    const pair = nodes.splice(-2);
    const symbols = pair.flatMap((node) => node.symbols);
    for (const symbol of symbols) depths.set(symbol, (depths.get(symbol) ?? 0) + 1);
    nodes.push({ weight: pair.reduce((sum, { weight }) => sum + weight, 0), symbols });
  }
  return depths;
}

/** How many codes there are of each length, none longer than may be: pairs of longer ones make others a bit longer instead. */
function boundedCounts(depths: ReadonlyMap<number, number>): number[] {
  const counts = Array.from({ length: RESERVED + 1 }, () => 0);
  for (const depth of depths.values()) counts[depth] = (counts[depth] ?? 0) + 1;
  const add = (length: number, count: number) => {
    counts[length] = (counts[length] ?? 0) + count;
  };
  for (let length = RESERVED; length > MAX_LENGTH; length--) {
    while ((counts[length] ?? 0) > 0) {
      const shorter = counts.findLastIndex((count, index) => index < length - 1 && count > 0);
      add(length, -2);
      add(length - 1, 1);
      add(shorter + 1, 2);
      add(shorter, -1);
    }
  }
  return counts.slice(1, MAX_LENGTH + 1);
}

import { concatBytes } from "../../../encoding/bytes.ts";
import { BitWriter } from "./bits.ts";
import { factorsOf, transform } from "./cosine.ts";
import { type HuffmanTable, huffmanTable } from "./huffman.ts";
import { CHROMINANCE, LUMINANCE, ZIGZAG } from "./tables.ts";

/** Pixels row by row, four numbers of 0 to 255 each: red, green, blue, and one that does not count. */
export interface Pixels {
  readonly data: ArrayLike<number>;
  readonly width: number;
  readonly height: number;
}

/** Symbols for the end of a block and for sixteen zeros (ITU T.81, F.1.2.2). */
const END = 0x00;
const ZEROS = 0xf0;

/**
 * Encodes an image as a baseline JPEG with full colour (4:4:4), as fast as it can be: a quality at which nothing is saved by thinking about each
 * coefficient. ITU T.81 and T.871.
 *
 * @param quality 1 to 100, as other encoders count
 */
export function encodeFullColour(image: Pixels, quality: number): Uint8Array<ArrayBuffer> {
  const tables = [scaled(LUMINANCE, quality), scaled(CHROMINANCE, quality)];
  const tokens = new Tokens();
  readBlocks(image, tables.map(factorsOf), tokens);
  const codes = tokens.frequencies.map(huffmanTable);
  return concatBytes([header(image, tables, codes), tokens.encode(codes), Uint8Array.of(0xff, 0xd9)]);
}

/** A quantisation table at a quality, as the reference implementation scales it. */
function scaled(table: readonly number[], quality: number): number[] {
  const percent = quality < 50 ? 5_000 / quality : 200 - quality * 2;
  return table.map((value) => Math.min(255, Math.max(1, Math.floor((value * percent + 50) / 100))));
}

/** What is written of an image: symbols of four codes, each with the bits that follow it. */
class Tokens {
  /** How often each symbol occurs: the first coefficients of luminance, the others, and the same of colours. */
  readonly frequencies = [0, 1, 2, 3].map(() => new Uint32Array(256));
  #tokens = new Uint32Array(1 << 16);
  #length = 0;

  /** @param bits what follows the symbol, as many as its lower four bits say */
  add(code: number, symbol: number, bits: number): void {
    const counts = this.frequencies[code];
    if (counts !== undefined) counts[symbol] = (counts[symbol] ?? 0) + 1;
    if (this.#length === this.#tokens.length) {
      const larger = new Uint32Array(this.#length * 2);
      larger.set(this.#tokens);
      this.#tokens = larger;
    }
    this.#tokens[this.#length++] = (code << 24) | (symbol << 16) | bits;
  }

  encode(tables: readonly HuffmanTable[]): Uint8Array<ArrayBuffer> {
    const codes = new Uint16Array(4 * 256);
    const lengths = new Uint8Array(4 * 256);
    for (const [index, table] of tables.entries()) {
      codes.set(table.codes, index * 256);
      lengths.set(table.lengths, index * 256);
    }
    const writer = new BitWriter(this.#length * 2);
    for (let at = 0; at < this.#length; at++) {
      const token = this.#tokens[at] ?? 0;
      const symbol = token >>> 16;
      writer.write(codes[symbol] ?? 0, lengths[symbol] ?? 0);
      writer.write(token & 0xffff, symbol & 15);
    }
    return writer.end();
  }
}

/** Reads an image in blocks of 8 by 8; those at its edges repeat the last pixels. */
function readBlocks({ data, width, height }: Pixels, factors: readonly Float32Array[], tokens: Tokens): void {
  const planes = [0, 1, 2].map(() => new Float32Array(64));
  const [luminance, blue, red] = planes;
  if (luminance === undefined || blue === undefined || red === undefined) return;
  const previous = [0, 0, 0];
  for (let top = 0; top < height; top += 8) {
    for (let left = 0; left < width; left += 8) {
      for (let place = 0; place < 64; place++) {
        const x = Math.min(width - 1, left + (place & 7));
        const y = Math.min(height - 1, top + (place >> 3));
        const at = (y * width + x) * 4;
        const r = data[at] ?? 0;
        const g = data[at + 1] ?? 0;
        const b = data[at + 2] ?? 0;
        luminance[place] = 0.299 * r + 0.587 * g + 0.114 * b - 128;
        blue[place] = -0.168735892 * r - 0.331264108 * g + 0.5 * b;
        red[place] = 0.5 * r - 0.418687589 * g - 0.081312411 * b;
      }
      for (const [component, plane] of planes.entries()) {
        const kind = component === 0 ? 0 : 1;
        const factor = factors[kind];
        if (factor === undefined) continue;
        transform(plane);
        previous[component] = readBlock(plane, factor, kind * 2, previous[component] ?? 0, tokens);
      }
    }
  }
}

/** The tokens of one block. Returns its first coefficient, of which the next block tells the difference. */
function readBlock(
  block: Float32Array,
  factors: Float32Array,
  code: number,
  previous: number,
  tokens: Tokens,
): number {
  const first = Math.round((block[0] ?? 0) * (factors[0] ?? 0));
  addNumber(tokens, code, 0, first - previous);
  let zeros = 0;
  for (let at = 1; at < 64; at++) {
    const place = ZIGZAG[at] ?? 0;
    const value = Math.round((block[place] ?? 0) * (factors[place] ?? 0));
    if (value === 0) {
      zeros++;
      continue;
    }
    for (; zeros > 15; zeros -= 16) tokens.add(code + 1, ZEROS, 0);
    addNumber(tokens, code + 1, zeros, value);
    zeros = 0;
  }
  if (zeros > 0) tokens.add(code + 1, END, 0);
  return first;
}

/** A number after some zeros: how many bits it has, and those; a negative one has its complement (ITU T.81, F.1.2.1). */
function addNumber(tokens: Tokens, code: number, zeros: number, value: number): void {
  const size = 32 - Math.clz32(Math.abs(value));
  tokens.add(code, (zeros << 4) | size, value < 0 ? value + (1 << size) - 1 : value);
}

function header(
  { width, height }: Pixels,
  tables: readonly (readonly number[])[],
  codes: readonly HuffmanTable[],
): Uint8Array<ArrayBuffer> {
  const word = (value: number) => [value >> 8, value & 255];
  const segment = (marker: number, content: readonly number[]) => [
    ...[0xff, marker],
    ...word(content.length + 2),
    ...content,
  ];
  const components = [1, 2, 3];
  return Uint8Array.from([
    ...[0xff, 0xd8],
    ...segment(0xe0, [0x4a, 0x46, 0x49, 0x46, 0, 1, 1, 0, 0, 1, 0, 1, 0, 0]),
    ...tables.flatMap((table, id) => segment(0xdb, [id, ...ZIGZAG.map((place) => table[place] ?? 1)])),
    ...segment(0xc0, [
      ...[8, ...word(height), ...word(width), components.length],
      ...components.flatMap((id) => [id, 0x11, id === 1 ? 0 : 1]),
    ]),
    ...codes.flatMap(({ counts, symbols }, index) =>
      segment(0xc4, [((index & 1) << 4) | (index >> 1), ...counts, ...symbols]),
    ),
    ...segment(0xda, [
      components.length,
      ...components.flatMap((id) => [id, id === 1 ? 0x00 : 0x11]),
      ...[0, 63, 0],
    ]),
  ]);
}

/** Scale factors of the fast transform below, for each row and column (Arai, Agui and Nakajima, 1988). */
const SCALE = [1, 1.387039845, 1.306562965, 1.175875602, 1, 0.785694958, 0.5411961, 0.275899379];

/**
 * Numbers to multiply the outcome of {@link transform} with, to have what a quantisation table makes of it.
 *
 * @param table 64 divisors, row by row
 */
export function factorsOf(table: readonly number[]): Float32Array<ArrayBuffer> {
  const factors = new Float32Array(64);
  for (let place = 0; place < 64; place++) {
    const scale = (SCALE[place >> 3] ?? 1) * (SCALE[place & 7] ?? 1);
    factors[place] = 1 / ((table[place] ?? 1) * scale * 8);
  }
  return factors;
}

/** The discrete cosine transform of 8 by 8 samples, in place, scaled as {@link factorsOf} undoes (ITU T.81, A.3.3). */
export function transform(block: Float32Array): void {
  for (let row = 0; row < 64; row += 8) transformLine(block, row, 1);
  for (let column = 0; column < 8; column++) transformLine(block, column, 8);
}

function transformLine(block: Float32Array, start: number, step: number): void {
  const d0 = block[start] ?? 0;
  const d1 = block[start + step] ?? 0;
  const d2 = block[start + 2 * step] ?? 0;
  const d3 = block[start + 3 * step] ?? 0;
  const d4 = block[start + 4 * step] ?? 0;
  const d5 = block[start + 5 * step] ?? 0;
  const d6 = block[start + 6 * step] ?? 0;
  const d7 = block[start + 7 * step] ?? 0;
  const outer = d0 + d7;
  const inner = d3 + d4;
  const even = outer - inner;
  const turned = (d1 + d6 - d2 - d5 + even) * Math.SQRT1_2;
  const whole = outer + inner;
  const middle = d1 + d6 + d2 + d5;
  block[start] = whole + middle;
  block[start + 4 * step] = whole - middle;
  block[start + 2 * step] = even + turned;
  block[start + 6 * step] = even - turned;
  const edge = d0 - d7;
  const odd0 = d3 - d4 + d2 - d5;
  const odd1 = (d2 - d5 + d1 - d6) * Math.SQRT1_2;
  const odd2 = d1 - d6 + edge;
  const shared = (odd0 - odd2) * 0.382683433;
  const lower = 0.5411961 * odd0 + shared;
  const upper = 1.306562965 * odd2 + shared;
  block[start + 5 * step] = edge - odd1 + lower;
  block[start + 3 * step] = edge - odd1 - lower;
  block[start + step] = edge + odd1 + upper;
  block[start + 7 * step] = edge + odd1 - upper;
}

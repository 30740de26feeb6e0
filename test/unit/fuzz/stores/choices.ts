import { random } from "../../gateway/tools/support.ts";

/** Texts that programs mistake for something else, and texts that storage may change. */
const TEXTS = [
  ...[
    "",
    "a",
    "b",
    "A",
    "one@sandbox.test",
    "gpt-4o",
    "__proto__",
    "constructor",
    "toString",
    "null",
    "0",
    "[]",
  ],
  ...[
    "x\0y",
    "\0",
    "\ud83d",
    "x\udc00",
    "\u{1f600}\u00e9",
    "\u2028\ufeff",
    "'\";--",
    "%_*?",
    "\n\r\t",
    "$.status",
  ],
];
const LONG = ["x".repeat(5_000), `${"\u{1f600}".repeat(250_000)}x`];

/** Names that the program makes itself. */
const IDS = ["id-1", "id-2", "id-3", "id-4", "id-5", "id-6"];

/** Finite numbers of every kind. */
const NUMBERS = [
  ...[0, -0, 1, 2, 7, 1_000, -1, 0.5, -0.25, 1e-320, 2 ** 31, 2 ** 32, 1e15, 1e15 + 0.5],
  ...[2 ** 53 - 1, 2 ** 53, 2 ** 53 + 2, 1e17, 2 ** 60, 2 ** 63, 1e19, 1e300, 1e308],
  ...[-(2 ** 53), -(2 ** 63), -1e308],
];

/** Whole numbers up to the most that one request can cost, in billionths. */
const SUMS = [
  0,
  1,
  7,
  1_000,
  2 ** 31,
  1e12,
  2 ** 53 - 1,
  2 ** 53,
  2 ** 53 + 2,
  2 ** 60,
  2 ** 63,
  1e19,
  1e30,
  1e40,
];

/** Unix milliseconds: the last one is the latest that a `Date` can hold. */
const TIMES = [0, 1, 999.5, 2 ** 31, 1_800_000_000_000, 1_800_000_000_001, 8.64e15];

/** Values for one operation, all of them decided by one number. */
export class Choices {
  readonly #next: () => number;

  constructor(seed: number) {
    this.#next = random(seed);
  }

  /** A whole number from 0 on and below `limit`. */
  below(limit: number): number {
    return Math.floor(this.#next() * limit);
  }

  /** Whether something happens that happens once in so many times. */
  once(times: number): boolean {
    return this.below(times) === 0;
  }

  of<T>(...values: readonly [T, ...T[]]): T {
    return values[this.below(values.length)] ?? values[0];
  }

  /** Any text; few have a million bytes. */
  text(): string {
    return (this.once(400) ? LONG[this.below(LONG.length)] : TEXTS[this.below(TEXTS.length)]) ?? "";
  }

  /** A name that the program has made. */
  id(): string {
    return IDS[this.below(IDS.length)] ?? "";
  }

  /** Any finite number. */
  number(): number {
    return NUMBERS[this.below(NUMBERS.length)] ?? 0;
  }

  /** A number that is not below 0. */
  amount(): number {
    return Math.abs(this.number());
  }

  /** A time of the program's own clock, or of a provider's. */
  time(): number {
    return TIMES[this.below(TIMES.length)] ?? 0;
  }

  /** A whole number that may be added up. */
  sum(): number {
    return SUMS[this.below(SUMS.length)] ?? 0;
  }

  /** So many values, fewer than `limit`. */
  list<T>(limit: number, make: () => T): T[] {
    return Array.from({ length: this.below(limit) }, make);
  }
}

import type { GatewayUnderTest, GatewayUnderTestOptions, Runtime } from "./gateway-under-test.ts";

/** Input of a part. */
export interface PartInput {
  readonly site: GatewayUnderTest;
  readonly count: number;
  readonly random: () => number;
}

/** Result of a part, in addition to the leaks. Every field except the note must be 0 or absent. */
export interface PartResult {
  /** Number of responses that are not allowed. */
  readonly wrong?: number;
  /** Number of slots that two requests held at the same time. */
  readonly twice?: number;
  /** Number of responses and slots that came too late. */
  readonly late?: number;
  /** Data that the program confirmed but lost: requests missing in history or usage, objects, edits. */
  readonly lost?: number;
  /** Memory that grew by more than 10 %, in MB. */
  readonly grown?: number;
  readonly note?: string;
}

/** One part of the campaign. */
export interface Part {
  readonly name: string;
  /** Unit of `count`. */
  readonly what: string;
  readonly full: number;
  /** Count of the short form. */
  readonly short: number;
  /** Runtimes of the part; default: both. */
  readonly runtimes?: readonly Runtime[];
  readonly site: GatewayUnderTestOptions;
  readonly run: (errand: PartInput) => Promise<PartResult>;
}

import type { KeyValueStore } from "./shelves.ts";

/** Serial numbers per kind, from 1. */
export class SerialNumbers {
  readonly #counters: KeyValueStore<number>;

  constructor(counters: KeyValueStore<number>) {
    this.#counters = counters;
  }

  /** Returns the name of a new item, such as `session-00000001`. */
  next(kind: string): string {
    const serial = this.count(kind) + 1;
    this.#counters.put(`serial:${kind}`, serial);
    return formatSerial(kind, serial);
  }

  /** Number of items of this kind so far. */
  count(kind: string): number {
    return this.#counters.get(`serial:${kind}`) ?? 0;
  }
}

/** The serial number is padded, so that names sort by time. */
export const formatSerial = (kind: string, serial: number): string =>
  `${kind}-${String(serial).padStart(8, "0")}`;

import type { Shelf } from "./shelves.ts";

/** Numbers things of each kind, from 1. */
export class Serials {
  readonly #counters: Shelf<number>;

  constructor(counters: Shelf<number>) {
    this.#counters = counters;
  }

  /** The name of a new thing, such as `session-00000001`. */
  next(kind: string): string {
    const serial = this.latest(kind) + 1;
    this.#counters.put(`serial:${kind}`, serial);
    return serialName(kind, serial);
  }

  /** How many things of this kind there have been. */
  latest(kind: string): number {
    return this.#counters.get(`serial:${kind}`) ?? 0;
  }
}

/** The serial number is padded, so that the order of the names is the order in time. */
export const serialName = (kind: string, serial: number): string =>
  `${kind}-${String(serial).padStart(8, "0")}`;

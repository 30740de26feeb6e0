import type { Shard } from "./shards.ts";

/** How long a shard that had nothing free is asked after the others, milliseconds: about as long as it takes to hear of a slot. */
const FULL_MS = 250;

/**
 * In which order a place asks the shards: the nearest first, those of one region in turn, and after all others those that had
 * nothing free a moment ago, or could not be reached. Plain data, one of it for each isolate.
 */
export class ShardOrder {
  readonly #groups: readonly (readonly number[])[];
  readonly #avoidedUntil = new Map<number, number>();
  #turn: number;

  /**
   * @param usable the shards that have accounts, by index
   * @param distance how far it is to a region, in any unit
   * @param turn with which of several in one region it begins; isolates that begin differently spread the load
   */
  constructor(
    shards: readonly Shard[],
    usable: readonly number[],
    distance: (region: string) => number,
    turn = 0,
  ) {
    const groups = new Map<string, number[]>();
    for (const index of usable) {
      const region = shards[index]?.region ?? "";
      groups.set(region, [...(groups.get(region) ?? []), index]);
    }
    this.#groups = [...groups]
      .sort(([one], [other]) => distance(one) - distance(other))
      .map(([, indices]) => indices);
    this.#turn = turn;
  }

  /** The shards to ask, at a time in milliseconds. */
  next(now: number): number[] {
    const turn = this.#turn;
    this.#turn += 1;
    const avoided = (index: number) => (this.#avoidedUntil.get(index) ?? 0) > now;
    // In turn among those that are asked first: the next one after one that is avoided would have its turns as well.
    const inTurn = (those: (index: number) => boolean) =>
      this.#groups.flatMap((group) => {
        const some = group.filter(those);
        const from = some.length === 0 ? 0 : turn % some.length;
        return [...some.slice(from), ...some.slice(0, from)];
      });
    return [...inTurn((index) => !avoided(index)), ...inTurn(avoided)];
  }

  /** A shard had nothing free, or (`forMs`) could not be reached. */
  avoid(index: number, now: number, forMs = FULL_MS): void {
    this.#avoidedUntil.set(index, now + forMs);
  }
}

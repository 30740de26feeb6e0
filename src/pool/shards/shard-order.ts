import type { Shard } from "./shard-map.ts";

/**
 * How long a shard without a free slot is asked after the others, milliseconds: about the time until new
 * information about a slot could arrive.
 */
const BUSY_AVOID_MS = 250;

/**
 * The order in which an isolate asks the shards: the nearest region first, round robin within a region, and last the shards
 * that recently had no free slot or could not be reached. Plain data, one instance per isolate.
 */
export class ShardOrder {
  readonly #groups: readonly (readonly number[])[];
  readonly #avoidedUntil = new Map<number, number>();
  #turn: number;

  /**
   * @param usable the shards to ask, by index
   * @param distance distance to a region, in any unit
   * @param turn which shard of a region comes first; different values in different isolates spread the load
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
    this.#groups = [...groups].sort(([a], [b]) => distance(a) - distance(b)).map(([, indices]) => indices);
    this.#turn = turn;
  }

  /**
   * The shards to ask at time `now` (milliseconds), in order.
   *
   * @param preferred the shard to ask first, unless it could not be reached
   */
  nextOrder(now: number, preferred?: number): number[] {
    const order = this.#rotateShards(now);
    if (preferred === undefined || !order.includes(preferred)) return order;
    const avoidedMs = (this.#avoidedUntil.get(preferred) ?? 0) - now;
    if (avoidedMs > BUSY_AVOID_MS) return order;
    return [preferred, ...order.filter((shard) => shard !== preferred)];
  }

  #rotateShards(now: number): number[] {
    const turn = this.#turn;
    this.#turn += 1;
    const isAvoided = (index: number) => (this.#avoidedUntil.get(index) ?? 0) > now;
    // Round robin only among shards of equal priority: otherwise the shard after an avoided one would also get its turns.
    const rotate = (matches: (index: number) => boolean) =>
      this.#groups.flatMap((group) => {
        const matching = group.filter(matches);
        const start = matching.length === 0 ? 0 : turn % matching.length;
        return [...matching.slice(start), ...matching.slice(0, start)];
      });
    return [...rotate((index) => !isAvoided(index)), ...rotate(isAvoided)];
  }

  /** Asks a shard after all others for a while: it had no free slot, or could not be reached (then with `forMs`). */
  avoid(index: number, now: number, forMs = BUSY_AVOID_MS): void {
    this.#avoidedUntil.set(index, now + forMs);
  }
}

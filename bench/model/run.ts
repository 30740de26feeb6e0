import { randomFrom } from "../simulation/clock.ts";
import { type Step, World } from "./world.ts";

/** Result of a run. */
export interface Played {
  readonly counts: World["counts"];
  readonly mostInUse: number;
  /** The violated invariant; null: none. */
  readonly fault: string | null;
}

/** Generates `count` steps from a seed. */
export function stepsOf(seed: number, count: number): Step[] {
  const random = randomFrom(seed);
  const below = (most: number) => Math.floor(most * random());
  return Array.from(
    { length: count },
    () => [below(1_000), below(10_000), below(10_000), below(10_000)] as const,
  );
}

/** Executes the steps, and then lets everything finish. */
export async function play(steps: readonly Step[]): Promise<Played> {
  const world = new World();
  let fault: string | null = null;
  try {
    for (const step of steps) await world.step(step);
    await world.close();
  } catch (error) {
    fault = error instanceof Error ? error.message : String(error);
  }
  return { counts: world.counts, mostInUse: world.books.mostInUse, fault };
}

/** Shrinks failing steps: removes ever smaller groups as long as the run still fails, with at most `tries` tries. */
export async function shrunk(steps: readonly Step[], tries: number): Promise<readonly Step[]> {
  let left = steps;
  let tried = 0;
  for (let size = left.length >> 1; size > 0; size >>= 1) {
    for (let at = 0; at < left.length && tried < tries; tried += 1) {
      const fewer = [...left.slice(0, at), ...left.slice(at + size)];
      if ((await play(fewer)).fault === null) at += size;
      else left = fewer;
    }
  }
  return left;
}

import { setTimeout as sleep } from "node:timers/promises";

/** Repeats `ask` until the answer fits, and returns it. Gives up after `milliseconds`. */
export async function until<T>(
  ask: () => Promise<T>,
  fits: (answer: T) => boolean,
  milliseconds = 10_000,
): Promise<T> {
  const end = Date.now() + milliseconds;
  for (;;) {
    const answer = await ask();
    if (fits(answer)) return answer;
    if (Date.now() > end) throw new Error(`it never came: ${JSON.stringify(answer)?.slice(0, 2_000)}`);
    await sleep(50);
  }
}

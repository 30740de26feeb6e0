/** Starts a timer of so many milliseconds; the result stops it. */
export type SetTimer = (ms: number, run: () => void) => () => void;

/** Time, for whoever waits. */
export interface Clock {
  /** Unix milliseconds. */
  readonly now: () => number;
  readonly setTimer: SetTimer;
}

/** The machine's own. */
export const WALL_CLOCK: Clock = {
  now: () => Date.now(),
  setTimer: (ms, run) => {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
};

/** Waits by a clock, so many milliseconds. */
export const pause = (ms: number, { setTimer }: Clock): Promise<void> =>
  new Promise((resolve) => setTimer(ms, resolve));

/** What comes of some work; null when that takes longer than so many milliseconds. */
export async function inTime<T>(work: Promise<T>, ms: number, { setTimer }: Clock): Promise<T | null> {
  const { promise: late, resolve } = Promise.withResolvers<null>();
  const stop = setTimer(ms, () => resolve(null));
  try {
    return await Promise.race([work, late]);
  } finally {
    stop();
  }
}

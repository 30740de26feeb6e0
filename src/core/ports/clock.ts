/** Starts a timer in milliseconds. The returned function cancels it. */
export type SetTimer = (ms: number, run: () => void) => () => void;

/** Time source and timers. */
export interface Clock {
  /** Unix milliseconds. */
  readonly now: () => number;
  readonly setTimer: SetTimer;
}

/** The system clock. */
export const WALL_CLOCK: Clock = {
  now: () => Date.now(),
  setTimer: (ms, run) => {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
};

/** Time that never jumps, also when the system clock is set: milliseconds since some moment. */
export const monotonicNow = (): number => performance.now();

/** Resolves after `ms` milliseconds of the clock. */
export const sleep = (ms: number, { setTimer }: Clock = WALL_CLOCK): Promise<void> =>
  new Promise((resolve) => setTimer(ms, resolve));

/** The result of `work`, or null if it takes longer than `ms` milliseconds. */
export async function withTimeout<T>(
  work: Promise<T>,
  ms: number,
  { setTimer }: Clock = WALL_CLOCK,
): Promise<T | null> {
  const { promise: timeout, resolve } = Promise.withResolvers<null>();
  const stop = setTimer(ms, () => resolve(null));
  try {
    return await Promise.race([work, timeout]);
  } finally {
    stop();
  }
}

/** The result of `work`. Rejects with the error of `createError` if it takes longer than `ms` milliseconds. */
export async function withDeadline<T>(
  work: Promise<T>,
  ms: number,
  createError: () => Error,
  { setTimer }: Clock = WALL_CLOCK,
): Promise<T> {
  const { promise: timeout, reject } = Promise.withResolvers<never>();
  const stop = setTimer(ms, () => reject(createError()));
  try {
    return await Promise.race([work, timeout]);
  } finally {
    stop();
  }
}

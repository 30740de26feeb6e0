/** A value or a promise of it: local implementations answer synchronously, remote ones cannot. */
export type Awaitable<T> = T | Promise<T>;

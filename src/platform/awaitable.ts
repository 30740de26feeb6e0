/** A value, now or later: what is local answers at once, what is remote cannot. */
export type Awaitable<T> = T | Promise<T>;

export const UNKNOWN_HOST: string;
/** Returns a function that replaces workerd's stack traces about unknown host names in pieces of its output by one sentence. */
export function unknownHostFilter(now?: () => number): (piece: Buffer) => Buffer | string;

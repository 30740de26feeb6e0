/** Name of the pool object of a deployment with a single pool, and of the first of several. */
export const POOL_NAME = "main";

/** Name of the one pool object of a deployment. */
export const POOL_NAME = "main";

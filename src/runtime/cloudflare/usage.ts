import type { UsageStore } from "../../core/ports/usage.ts";
import type { Env } from "./env.ts";

/** The usage records of a deployment: one Durable Object behind the binding `USAGE`. */
export function createUsageStore(env: Env): UsageStore {
  // A stub fails for ever after its object has restarted, so each call takes a new one.
  const object = () => env.USAGE.getByName("main");
  return {
    write: (message) => object().write(message),
    read: (query) => object().read(query),
    readActivity: (query) => object().activity(query),
    listKeyUsage: () => object().keys(),
  };
}

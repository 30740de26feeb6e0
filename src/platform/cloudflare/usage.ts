import type { UsageStore } from "../usage.ts";
import type { Env } from "./env.ts";

/** The books of a deployment: one object behind the binding `USAGE`. */
export function cloudflareUsage(env: Env): UsageStore {
  // A stub that has seen its object restart fails for ever: each call gets a new one.
  const object = () => env.USAGE.getByName("main");
  return {
    write: (message) => object().write(message),
    read: (query) => object().read(query),
    activity: (query) => object().activity(query),
    keys: () => object().keys(),
  };
}

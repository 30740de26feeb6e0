import type { Env } from "../src/runtime/cloudflare/env.ts";
import { getVariables } from "../src/runtime/cloudflare/variables.ts";

let name = "";

/**
 * A random name shared by all objects of this process and by no others. Empty when requests run in several processes: there
 * a restart of one object does not mean that the holders of its leases have ended.
 */
export function getProcessName(env: Env): string {
  if (!getVariables(env).singleProcess) return "";
  // Created lazily: only event handlers may use random numbers, not the startup of an isolate.
  name ||= crypto.randomUUID();
  return name;
}

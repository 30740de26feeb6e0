import type { Env } from "../src/platform/cloudflare/env.ts";
import { variablesOf } from "../src/platform/cloudflare/variables.ts";

let name = "";

/**
 * A name that all objects of this process share, and none of another one. Empty where requests run in several places: nothing
 * has ended there because an object was started anew.
 */
export function nameOfProcess(env: Env): string {
  if (!variablesOf(env).singleProcess) return "";
  // Not when the isolate starts: only events may have random numbers.
  name ||= crypto.randomUUID();
  return name;
}

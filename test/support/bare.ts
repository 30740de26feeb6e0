import type { GatewayOptions } from "./gateway.ts";
import type { BareGateway } from "./miniflare.ts";
import { ON_DENO } from "./runtime.ts";

export type { BareGateway } from "./miniflare.ts";

/** Starts a gateway whose upstreams see its clients leave, on the runtime that the tests are run for. */
export async function startBare(options: GatewayOptions = {}): Promise<BareGateway> {
  if (ON_DENO) return (await import("./deno.ts")).DenoGateway.start(options);
  return (await import("./miniflare.ts")).startMiniflare(options);
}

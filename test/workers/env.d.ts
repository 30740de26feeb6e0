/// <reference types="@cloudflare/vitest-plugin/types" />
import type { Env as Bindings } from "../../src/platform/cloudflare/env.ts";

declare global {
  namespace Cloudflare {
    /** The bindings of `wrangler.toml`, for `import { env } from "cloudflare:test"`. */
    interface Env extends Bindings {}
  }
}

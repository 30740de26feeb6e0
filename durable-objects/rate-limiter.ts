import { DurableObject } from "cloudflare:workers";
import type { Env } from "../src/platform/cloudflare/env.ts";

export class RateLimiter extends DurableObject<Env> {}

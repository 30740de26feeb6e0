import { DurableObject } from "cloudflare:workers";
import type { Env } from "../src/platform/cloudflare/env.ts";

export class History extends DurableObject<Env> {}

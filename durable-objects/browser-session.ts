import { DurableObject } from "cloudflare:workers";
import type { Env } from "../src/platform/cloudflare/env.ts";

export class BrowserSession extends DurableObject<Env> {}

import * as z from "zod";
import { lazyObject } from "../../encoding/lazy-schema.ts";
import { markSecret } from "../marked-secrets.ts";

/** An outbound proxy (docs/contract/accounts.md, Proxies). */
export const proxySchema = lazyObject(() => ({
  id: z.string().trim().min(1),
  name: z.string().default(""),
  type: z.enum(["http", "socks5"]),
  host: z.string().trim().min(1, "a proxy needs a host"),
  port: z.number().int().min(1).max(65_535),
  username: z.string().default(""),
  password: markSecret(z.string().default("")),
}));

export type Proxy = z.output<typeof proxySchema>;

import * as z from "zod/mini";
import { texts } from "./texts.ts";

const exported = z.object({ api_keys: z.array(z.object({ key: z.string() })) });

/**
 * Finds an unmasked key by its index. Views of the gateway mask keys, its export does not, and both have the same order.
 *
 * @throws Error if no key exists at this index any more.
 */
export function findFullKey(config: unknown, index: number): string {
  const parsed = exported.safeParse(config);
  const key = parsed.success ? parsed.data.api_keys[index]?.key : undefined;
  if (key === undefined) throw new Error(texts.keyNotFound);
  return key;
}

import { DEVELOPMENT_API_KEY } from "../config/initial-config.ts";
import type { Config } from "../config/schema.ts";
import { sha256Hex } from "../encoding/hash.ts";
import type { Platform } from "../ports/platform.ts";
import { getKnownKeys } from "./caller-keys.ts";

/** Whether a deployment accepts the publicly known key of a trial, whose configuration it has imported. */
export async function isDevelopmentKeyOpen(
  { variables }: Pick<Platform, "variables">,
  config: Config,
): Promise<boolean> {
  if (variables.development) return false;
  const known = (await getKnownKeys(config)).get(await sha256Hex(DEVELOPMENT_API_KEY));
  return known?.validUntil === null && known.key.entry.disabled !== true;
}

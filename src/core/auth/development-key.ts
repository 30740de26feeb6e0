import { listApiKeys } from "../config/api-keys.ts";
import { DEVELOPMENT_API_KEY } from "../config/initial-config.ts";
import type { Config } from "../config/schema.ts";
import { sha256Hex } from "../encoding/hash.ts";
import type { Platform } from "../ports/platform.ts";

/** Whether a deployment accepts the publicly known key of a trial, whose configuration it has imported. */
export async function isDevelopmentKeyOpen(
  { variables }: Pick<Platform, "variables">,
  config: Config,
): Promise<boolean> {
  if (variables.development) return false;
  const developmentDigest = await sha256Hex(DEVELOPMENT_API_KEY);
  return listApiKeys(config).some(
    ({ key, digest, disabled }) =>
      disabled !== true && (key === DEVELOPMENT_API_KEY || digest === developmentDigest),
  );
}

import { sha256Hex } from "../encoding/hash.ts";
import { BUILD } from "../version.ts";
import { type Config, configSchema } from "./schema.ts";

/** A copy of the configuration. */
export interface SealedConfig {
  readonly config: Config;
  /** See {@link sealOf}; there is none in copies of earlier versions. */
  readonly seal?: string | null;
}

/**
 * Says of a configuration that this very build has checked it, so that a new isolate which reads a copy of it need not: to make the schemas
 * takes longer than most else that it does before its first answer (docs/performance.md). Null: nothing is known of this build.
 */
export async function sealOf(config: Config, build = BUILD): Promise<string | null> {
  return build === null ? null : sha256Hex(`${build}\n${JSON.stringify(config)}`);
}

/** The configuration of a copy: checked, unless its seal says that this build has done so. Throws for one that is wrong. */
export async function opened({ config, seal }: SealedConfig, build = BUILD): Promise<Config> {
  const isOwn = typeof seal === "string" && seal === (await sealOf(config, build));
  return isOwn ? config : configSchema.parse(config);
}

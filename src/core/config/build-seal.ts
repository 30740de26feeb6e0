import { sha256Hex } from "../encoding/hash.ts";
import { BUILD } from "../version.ts";
import { type Config, configSchema } from "./schema.ts";

/** A copy of the configuration. */
export interface SealedConfig {
  readonly config: Config;
  /** See {@link buildSeal}; absent in copies of earlier versions. */
  readonly seal?: string | null;
}

/**
 * A hash which shows that this build has validated the configuration, so that a new isolate can skip that for a copy.
 * Creating the schemas takes longer than most other work before the first answer (bench/results/startup.md). Null: the
 * build is unknown.
 */
export async function buildSeal(config: Config, build = BUILD): Promise<string | null> {
  return build === null ? null : sha256Hex(`${build}\n${JSON.stringify(config)}`);
}

/** Opens a copy. Validates it, unless its seal shows that this build has done so. Throws for an invalid one. */
export async function openSealedConfig({ config, seal }: SealedConfig, build = BUILD): Promise<Config> {
  const isOwn = typeof seal === "string" && seal === (await buildSeal(config, build));
  return isOwn ? config : configSchema.parse(config);
}

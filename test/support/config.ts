import { type Config, configSchema } from "../../src/core/config/schema.ts";

/** Returns a configuration with all defaults. */
export function emptyConfig(): Config {
  return configSchema.parse({});
}

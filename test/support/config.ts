import { type Config, configSchema } from "../../src/config/schema.ts";

/** A configuration with every default. */
export function emptyConfig(): Config {
  return configSchema.parse({});
}

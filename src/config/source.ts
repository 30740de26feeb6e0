import { fromBase64 } from "../encoding/bytes.ts";
import type { Settings } from "../platform/variables.ts";
import { type Config, configSchema } from "./schema.ts";

/** E-mail addresses of the sandbox accounts that a development configuration starts with. */
const SANDBOX_ACCOUNTS = ["one@sandbox.test", "two@sandbox.test", "three@sandbox.test"];

/** The configuration that `npm start` begins with: key `sk-dev` and three sandbox accounts. */
export function developmentConfig(): Config {
  return configSchema.parse({
    api_keys: [{ key: "sk-dev", name: "development" }],
    accounts: SANDBOX_ACCOUNTS.map((email) => ({ email, password: "sandbox" })),
  });
}

/** Decodes `GATEWAY_CONFIG_JSON`: JSON, or base64 of it. Throws an error that says what is wrong with it. */
export function parseConfigJson(source: string): Config {
  const text = source.startsWith("{") ? source : new TextDecoder().decode(fromBase64(source));
  return configSchema.parse(JSON.parse(text));
}

/** What the configuration is before anybody has edited it. */
export function initialConfig(settings: Settings): Config {
  if (settings.configJson !== null) return parseConfigJson(settings.configJson);
  return settings.development ? developmentConfig() : configSchema.parse({});
}

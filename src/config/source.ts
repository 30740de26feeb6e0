import { fromBase64 } from "../encoding/bytes.ts";
import { type Config, configSchema } from "./schema.ts";

/** What the deployment says of its configuration. */
export interface ConfigOrigin {
  /** The configuration as JSON or base64 of it; null: the one that is stored. */
  readonly configJson: string | null;
  /** Edits of a configuration that the deployment gives are kept. */
  readonly configWriteback: boolean;
  /** An empty configuration starts with the development key and accounts. */
  readonly development: boolean;
}

/** E-mail addresses of the sandbox accounts that a development configuration starts with. */
const SANDBOX_ACCOUNTS = ["one@sandbox.test", "two@sandbox.test", "three@sandbox.test"];

/** The API key that a development configuration starts with. Everybody knows it. */
export const DEVELOPMENT_API_KEY = "sk-dev";

/** The configuration that `npm start` begins with: key `sk-dev` and three sandbox accounts. */
function developmentConfig(): Config {
  return configSchema.parse({
    api_keys: [{ key: DEVELOPMENT_API_KEY, name: "development" }],
    accounts: SANDBOX_ACCOUNTS.map((email) => ({ email, password: "sandbox" })),
  });
}

function jsonIn(source: string): unknown {
  return JSON.parse(source.startsWith("{") ? source : new TextDecoder().decode(fromBase64(source)));
}

/** Decodes `GATEWAY_CONFIG_JSON`: JSON, or base64 of it. Throws an error that says what is wrong with it. */
function parseConfigJson(source: string): Config {
  return configSchema.parse(jsonIn(source));
}

/** What is wrong with a `GATEWAY_CONFIG_JSON`, told without its secrets; null: nothing. */
export function configJsonFault(source: string): string | null {
  let value: unknown;
  try {
    value = jsonIn(source);
  } catch {
    return "it is neither";
  }
  const [issue] = configSchema.safeParse(value).error?.issues ?? [];
  return issue === undefined ? null : [issue.path.join("."), issue.message].filter(Boolean).join(": ");
}

/** What the configuration is before anybody has edited it. */
export function initialConfig({ configJson, development }: ConfigOrigin): Config {
  if (configJson !== null) return parseConfigJson(configJson);
  return development ? developmentConfig() : configSchema.parse({});
}

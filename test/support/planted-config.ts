import fc from "fast-check";
import * as z from "zod";
import { visibilityOf } from "../../src/core/config/marked-secrets.ts";
import { type Config, configSchema } from "../../src/core/config/schema.ts";
import { authFields } from "../../src/core/config/schemas/account-auth-schema.ts";

type Schema = z.core.$ZodType;

/** A configuration generated from its schema, with a unique secret in each place that the schema marks. */
export interface PlantedConfig {
  readonly config: Config;
  /** Text to search for: the middle of each secret, which no masked form shows. */
  readonly secrets: readonly string[];
}

/** Fixed values for fields that refer to other entries or need a known name, by field name. */
const FIXED: Readonly<Record<string, unknown>> = {
  driver: "openai",
  proxy_id: "",
  team: "",
  user: "",
  provider: "",
  model_aliases: {},
  model_routes: {},
  // Hashing the keys is irreversible and removes them from the export.
  keys_hashed: false,
};

/** Member names of records. They include header names that do not look like those of secrets. */
const NAMES = ["Authorization", "Ocp-Apim-Subscription-Key", "X-Tenant", "cf-aig-authorization"];

/** Generates a value for each schema; `g` supplies the random choices. */
class Planter {
  readonly secrets: string[] = [];
  readonly #g: fc.GeneratorValue;
  readonly #prefix: string;
  #made = 0;

  /** @param number makes the names of this configuration unique */
  constructor(g: fc.GeneratorValue, number: number) {
    this.#g = g;
    this.#prefix = number.toString(16);
  }

  #hex(length: number): string {
    const unit = fc.constantFrom(..."0123456789abcdef");
    return this.#g(fc.string, { unit, minLength: length, maxLength: length });
  }

  valueOf(schema: Schema, name = "", isSecret = false): unknown {
    if (Object.hasOwn(FIXED, name)) return FIXED[name];
    if (name === "auth") return this.#auth();
    const mark = visibilityOf(schema);
    const secret = isSecret || (mark !== undefined && mark !== "public");
    if (
      schema instanceof z.ZodDefault ||
      schema instanceof z.ZodPrefault ||
      schema instanceof z.ZodOptional
    ) {
      return this.valueOf(schema.unwrap(), name, secret);
    }
    if (schema instanceof z.ZodPipe) return this.valueOf(schema.in, name, secret);
    if (schema instanceof z.ZodUnion) {
      const option = this.#g(fc.nat, { max: schema.options.length - 1 });
      return this.valueOf(schema.options[option] ?? z.never(), name, secret);
    }
    if (schema instanceof z.ZodObject) {
      const members = Object.entries(schema.shape).map(([field, member]) => [
        field,
        this.valueOf(member, field, secret),
      ]);
      return Object.fromEntries(members);
    }
    // The list of a key refers to rules.
    if (schema instanceof z.ZodArray && name === "guardrails") return [];
    if (schema instanceof z.ZodArray) {
      const length = this.#g(fc.integer, { min: 1, max: 2 });
      return Array.from({ length }, () => this.valueOf(schema.element, "", secret));
    }
    if (schema instanceof z.ZodRecord) {
      const names = this.#g(fc.subarray<string>, NAMES, { minLength: 1 });
      return Object.fromEntries(names.map((field) => [field, this.valueOf(schema.valueType, "", secret)]));
    }
    return secret ? this.#plant(schema) : this.#plain(schema);
  }

  /** Credentials of one type, because the fields of several types do not go together. */
  #auth(): unknown {
    const { client_secret, refresh_token, secret_access_key, session_token, service_account_key } =
      authFields.shape;
    const keyFile = () =>
      JSON.stringify({
        client_email: "robot@example.com",
        private_key: `-----BEGIN PRIVATE KEY-----${this.#plant(service_account_key)}`,
        token_uri: "https://token.test/",
      });
    const types = [
      () => ({
        type: "oauth2",
        token_url: "https://token.test/",
        client_id: "client",
        client_secret: this.#plant(client_secret),
        refresh_token: this.#plant(refresh_token),
      }),
      () => ({
        type: "aws_sigv4",
        access_key_id: "AKIDEXAMPLE",
        secret_access_key: this.#plant(secret_access_key),
        session_token: this.#plant(session_token),
        region: "us-east-1",
        service: "bedrock",
      }),
      () => ({ type: "google_service_account", service_account_key: keyFile() }),
    ];
    return this.#g(fc.constantFrom, ...types)();
  }

  /** Generates a secret in the form that the schema requires. */
  #plant(schema: Schema): string {
    const hex = this.#hex(64);
    const unique = `${this.#made++}`.padStart(8, "0");
    const text = hex.slice(0, 40) + unique + hex.slice(48);
    const address = `https://hooks.example.com/${text}`;
    const forms = visibilityOf(schema) === "origin" ? [address] : [text, `whsec_${text}`];
    const found = forms.find((form) => z.safeParse(schema, form).success);
    if (found === undefined) throw new Error("no form of a secret suits this field of the configuration");
    // A hashed key is named by the first sixteen digits of its digest.
    this.secrets.push(text.slice(16, -4));
    return found;
  }

  #plain(schema: Schema): unknown {
    const candidates = [
      `name-${this.#prefix}-${this.#made++}`,
      `https://${this.#prefix}-${this.#made}.test/v1`,
      "192.0.2.0/24",
      "last",
      this.#g(fc.boolean),
      this.#g(fc.integer, { min: 1, max: 5 }),
      ...(schema instanceof z.ZodEnum ? schema.options : []),
    ];
    return candidates.find((candidate) => z.safeParse(schema, candidate).success);
  }
}

/**
 * Configurations with every field of the schema. `fc.gen` draws nothing itself, so several values in one property would be
 * equal without the number drawn before each. `noBias`, because fast-check's bias would draw the same number for several.
 */
export const plantedConfigs: fc.Arbitrary<PlantedConfig> = fc.noBias(
  fc.tuple(fc.nat(), fc.gen()).map(([number, g]) => {
    const planter = new Planter(g, number);
    const config = configSchema.parse(planter.valueOf(configSchema));
    return { config, secrets: planter.secrets };
  }),
);

import fc from "fast-check";
import * as z from "zod";
import { type Config, configSchema } from "../../src/config/schema.ts";
import { markOf } from "../../src/config/secrets.ts";

type Schema = z.core.$ZodType;

/** A configuration made by its schema, with a secret of its own in each place that the schema marks. */
export interface PlantedConfig {
  readonly config: Config;
  /** What is looked for: the middle of each secret, which no shortened form shows. */
  readonly secrets: readonly string[];
}

/** What refers to something else, or has to be a name that the program knows: by the field's name. */
const FIXED: Readonly<Record<string, unknown>> = {
  driver: "openai",
  proxy_id: "",
  provider: "",
  model_aliases: {},
  model_routes: {},
  // Hashing the keys cannot be undone, and takes them out of the export.
  keys_hashed: false,
};

/** Names of a record's members: those of HTTP fields that do not sound like a secret's are among them. */
const NAMES = ["Authorization", "Ocp-Apim-Subscription-Key", "X-Tenant", "cf-aig-authorization"];

/** Makes a value of each schema; `g` decides what is left open. */
class Planter {
  readonly secrets: string[] = [];
  readonly #g: fc.GeneratorValue;
  readonly #prefix: string;
  #made = 0;

  /** @param number tells the names of this configuration from those of others */
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
    const mark = markOf(schema);
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

  /** A secret in the form that the schema wants. */
  #plant(schema: Schema): string {
    const hex = this.#hex(64);
    const unique = `${this.#made++}`.padStart(8, "0");
    const text = hex.slice(0, 40) + unique + hex.slice(48);
    const address = `https://hooks.example.com/${text}`;
    const forms = markOf(schema) === "origin" ? [address] : [text, `whsec_${text}`];
    const found = forms.find((form) => z.safeParse(schema, form).success);
    if (found === undefined) throw new Error("no form of a secret suits this field of the configuration");
    // A key whose digest alone is kept is named by the first sixteen digits.
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
 * Configurations with every field that the schema has. `fc.gen` takes no number of its own from the generator: several of them in one
 * property would be equal without the number that is drawn before each. The bias of fast-check would make the same number for several.
 */
export const plantedConfigs: fc.Arbitrary<PlantedConfig> = fc.noBias(
  fc.tuple(fc.nat(), fc.gen()).map(([number, g]) => {
    const planter = new Planter(g, number);
    const config = configSchema.parse(planter.valueOf(configSchema));
    return { config, secrets: planter.secrets };
  }),
);

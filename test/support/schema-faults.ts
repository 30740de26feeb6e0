import { dereference, type OutputUnit, type Schema, validate } from "@cfworker/json-schema";

const MAX_FAULTS = 5;
/** The validator's message for a member that a closed object does not have. */
const FORBIDDEN = "False boolean schema.";
const DRAFT = "2020-12";

/** The schemas that `$ref` may name, by their addresses. */
export type SchemaLookup = ReturnType<typeof dereference>;

/** A JSON schema that values are checked against. `lookup`: of the document that the schema is a part of. */
export class SchemaCheck {
  readonly #schema: Schema;
  readonly #lookup: SchemaLookup;

  constructor(schema: Schema, lookup: SchemaLookup = dereference(schema)) {
    this.#schema = schema;
    this.#lookup = lookup;
  }

  /** Locations where a value violates the schema; undefined if it is valid. */
  findFault(value: unknown): string | undefined {
    // Most values are valid: collecting all errors of all alternatives takes longer than the check itself.
    if (validate(value, this.#schema, DRAFT, this.#lookup, true).valid) return undefined;
    return innermost(validate(value, this.#schema, DRAFT, this.#lookup, false).errors);
  }
}

/** Returns the innermost errors. The errors around them only say that there are inner ones. */
function innermost(errors: readonly OutputUnit[]): string {
  const places = errors.map(({ instanceLocation }) => instanceLocation);
  const inner = errors.filter(
    ({ instanceLocation }) => !places.some((place) => place.startsWith(`${instanceLocation}/`)),
  );
  const lines = inner.map(
    ({ instanceLocation, error }) =>
      `${instanceLocation.replace("#", "body")}: ${error === FORBIDDEN ? "is not described" : error}`,
  );
  return [...new Set(lines)].slice(0, MAX_FAULTS).join("; ");
}

/**
 * Extracts the schemas that the tests check from Google's published protocol buffers (JSON form), into
 * `test/fixtures/published/`.
 *
 * npm install --prefix /tmp/protos @google-ai/generativelanguage && node scripts/published-protos.mjs
 * /tmp/protos/node_modules/@google-ai/generativelanguage
 *
 * All members are optional. The tests check that no member is unknown and that types and values are correct. Messages that
 * this program never writes are left out, so a body with one of them fails the test.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Messages to check: whole bodies, and each chunk of the streams. */
const ROOTS = [
  "GenerateContentResponse",
  "CountTokensResponse",
  "Model",
  "ListModelsResponse",
  "EmbedContentResponse",
  "BatchEmbedContentsResponse",
  "File",
  "ListFilesResponse",
  "CreateFileResponse",
];

/** Nested messages that this program writes. */
const WRITTEN =
  /^(Candidate|Content|Part|FunctionCall|ContentEmbedding|LogprobsResult|TopCandidates|UsageMetadata|ModalityTokenCount|Modality|GroundingMetadata|GroundingChunk|GroundingSupport|Segment|Web|FinishReason|State|Source)$/;

const SCALARS = {
  string: { type: "string" },
  bool: { type: "boolean" },
  int32: { type: "integer" },
  int64: { type: "string" },
  float: { type: "number" },
  double: { type: "number" },
  bytes: { type: "string" },
  "google.protobuf.Timestamp": { type: "string" },
  "google.protobuf.Struct": { type: "object" },
};

/** Names of google.rpc.Code. */
const CODES =
  "CANCELLED UNKNOWN INVALID_ARGUMENT DEADLINE_EXCEEDED NOT_FOUND ALREADY_EXISTS PERMISSION_DENIED UNAUTHENTICATED RESOURCE_EXHAUSTED FAILED_PRECONDITION ABORTED OUT_OF_RANGE UNIMPLEMENTED INTERNAL UNAVAILABLE DATA_LOSS".split(
    " ",
  );

const [path] = process.argv.slice(2);
if (path === undefined) throw new Error("Where is @google-ai/generativelanguage?");
const { version, license } = JSON.parse(readFileSync(join(path, "package.json"), "utf8"));
const protos = JSON.parse(readFileSync(join(path, "build/protos/protos.json"), "utf8"));
const { nested: top } = protos.nested.google.nested.ai.nested.generativelanguage.nested.v1beta;

const cut = {};

/** Resolves a name inside `scopes`, innermost scope first. */
function find(name, scopes) {
  for (const { prefix, nested } of scopes) {
    if (nested?.[name] !== undefined) return { key: `${prefix}${name}`, definition: nested[name] };
  }
  return null;
}

function schemaOf(name, scopes) {
  if (name in SCALARS) return SCALARS[name];
  const found = WRITTEN.test(name) || ROOTS.includes(name) ? find(name, scopes) : null;
  if (found === null) return { not: {} };
  const { key, definition } = found;
  if (!(key in cut)) {
    cut[key] = {};
    cut[key] =
      definition.values === undefined
        ? message(definition, [{ prefix: `${key}.`, nested: definition.nested }, ...scopes])
        : { enum: Object.keys(definition.values) };
  }
  return { $ref: `#/$defs/${key}` };
}

function message({ fields }, scopes) {
  const properties = Object.entries(fields).map(([name, { rule, type }]) => {
    const schema = schemaOf(type, scopes);
    return [name, rule === "repeated" ? { type: "array", items: schema } : schema];
  });
  const possible = properties.filter(
    ([, schema]) => schema.not === undefined && schema.items?.not === undefined,
  );
  return { type: "object", properties: Object.fromEntries(possible), additionalProperties: false };
}

for (const name of ROOTS) schemaOf(name, [{ prefix: "", nested: top }]);

// The API and its own clients have these members; the published package does not yet.
for (const name of ["EmbedContentResponse", "BatchEmbedContentsResponse"]) {
  cut[name].properties.usageMetadata ??= {
    type: "object",
    properties: { promptTokenCount: { type: "integer" } },
    additionalProperties: false,
  };
}

// google.rpc.Status, in the wrapper of Google's JSON APIs.
cut.ErrorResponse = {
  type: "object",
  properties: {
    error: {
      type: "object",
      properties: {
        code: { type: "integer" },
        message: { type: "string" },
        status: { enum: CODES },
        details: { type: "array", items: { type: "object" } },
      },
      required: ["code", "message", "status"],
      additionalProperties: false,
    },
  },
  required: ["error"],
  additionalProperties: false,
};

const $comment = `Cut by scripts/published-protos.mjs out of @google-ai/generativelanguage ${version} (${license}).`;
const definitions = Object.keys(cut)
  .sort()
  .map((name) => `    ${JSON.stringify(name)}: ${JSON.stringify(cut[name])}`);
writeFileSync(
  join(import.meta.dirname, "../test/fixtures/published/google.json"),
  `{\n  "$comment": ${JSON.stringify($comment)},\n  "$defs": {\n${definitions.join(",\n")}\n  }\n}\n`,
);

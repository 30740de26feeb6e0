/**
 * Builds examples of requests, whole answers and stream events in which every member and every variant of the vendors'
 * published types occurs, and writes them to `test/fixtures/published/examples.json`.
 *
 * npm install --prefix /tmp/compiler typescript@5 && npm install --prefix /tmp/protos @google-ai/generativelanguage &&
 * node scripts/published-requests.mjs /tmp/compiler/node_modules/typescript /tmp/protos/node_modules/@google-ai/generativelanguage
 *
 * The types come from openai and @anthropic-ai/sdk, as installed here, and from Google's protocol buffers (all Apache-2.0).
 */
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const ROOT = join(import.meta.dirname, "..");
const ENTRY = join(ROOT, "examples.ts");
const [compiler, protoFolder] = process.argv.slice(2);
if (compiler === undefined || protoFolder === undefined)
  throw new Error("Where are typescript@5 and the protos?");
const ts = createRequire(import.meta.url)(compiler);

/** Types by the id of the API style: request, whole answer, event of a stream. */
const SOURCE = `
  import type { ChatCompletionCreateParamsNonStreaming, ChatCompletion, ChatCompletionChunk } from "openai/resources/chat/completions";
  import type { CompletionCreateParamsNonStreaming, Completion } from "openai/resources/completions";
  import type { ResponseCreateParamsNonStreaming, Response, ResponseStreamEvent } from "openai/resources/responses/responses";
  import type { MessageCreateParamsNonStreaming, BetaMessage, BetaRawMessageStreamEvent } from "@anthropic-ai/sdk/resources/beta/messages/messages";
  export interface Types {
    "chat-completions": { request: ChatCompletionCreateParamsNonStreaming; answer: ChatCompletion; event: ChatCompletionChunk };
    completions: { request: CompletionCreateParamsNonStreaming; answer: Completion; event: Completion };
    responses: { request: ResponseCreateParamsNonStreaming; answer: Response; event: ResponseStreamEvent };
    messages: { request: Omit<MessageCreateParamsNonStreaming, "betas">; answer: BetaMessage; event: BetaRawMessageStreamEvent };
  }`;

/** Most levels of objects and lists: deeper members repeat what other examples have. */
const MAX_DEPTH = 9;

const options = {
  strict: true,
  noEmit: true,
  types: [],
  target: ts.ScriptTarget.ES2022,
  lib: ["lib.es2022.d.ts", "lib.dom.d.ts"],
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
};
const host = ts.createCompilerHost(options);
const { getSourceFile, fileExists } = host;
host.fileExists = (path) => path === ENTRY || fileExists(path);
host.getSourceFile = (path, language, ...rest) =>
  path === ENTRY ? ts.createSourceFile(path, SOURCE, language, true) : getSourceFile(path, language, ...rest);
const program = ts.createProgram([ENTRY], options, host);
const checker = program.getTypeChecker();

/** Combines lists of members to objects, so that each value occurs once. Objects without it get the brief value, if any. */
function combine(members) {
  const count = Math.max(1, ...members.map(([, values]) => values.length));
  return Array.from({ length: count }, (_, index) =>
    Object.fromEntries(
      members
        .map(([name, values, brief]) => [name, index < values.length ? values[index] : brief])
        .filter(([, value]) => value !== undefined),
    ),
  );
}

/** Object types that were shown with all members. Where they occur again, their required members are enough. */
const shown = new Set();

/** Values that together show every member and variant of a type. Empty: the type contains itself. */
function examplesOf(type, name, above = [], isBrief = false) {
  const { flags } = type;
  if (flags & (ts.TypeFlags.Null | ts.TypeFlags.Undefined)) return [];
  if (flags & (ts.TypeFlags.Any | ts.TypeFlags.Unknown)) return [{ any: [1, null] }];
  if (flags & ts.TypeFlags.BooleanLiteral) return [type.intrinsicName === "true"];
  if (flags & ts.TypeFlags.Boolean) return [true];
  if (type.isLiteral()) return [type.value];
  if (flags & ts.TypeFlags.String) return [`${name}-1`];
  if (flags & ts.TypeFlags.Number) return [name === "index" ? 0 : 1];
  if (above.includes(type) || above.length > MAX_DEPTH) return [];
  if (type.isIntersection()) return [`${name}-1`];
  if (type.isUnion()) {
    const parts = type.types.filter((part) => !(part.flags & (ts.TypeFlags.Null | ts.TypeFlags.Undefined)));
    // Of many names, the first and the last.
    const literals = parts.filter((part) => part.isLiteral());
    const others = parts.filter((part) => !part.isLiteral());
    const chosen = literals.length > 2 ? [literals[0], literals.at(-1)] : literals;
    const all = [...chosen, ...others].flatMap((part) => examplesOf(part, name, above, isBrief));
    return isBrief ? all.slice(0, 1) : all;
  }
  const stack = [...above, type];
  if (checker.isArrayType(type)) return [examplesOf(checker.getTypeArguments(type)[0], name, stack, isBrief)];
  const rest = checker.getIndexTypeOfType(type, ts.IndexKind.String);
  if (rest !== undefined)
    return examplesOf(rest, name, stack, isBrief)
      .slice(0, 1)
      .map((value) => ({ [`${name}_a`]: value }));
  const isShown = isBrief || shown.has(type);
  if (!isBrief) shown.add(type);
  const wanted = checker
    .getPropertiesOfType(type)
    .filter((member) => !isShown || (member.flags & ts.SymbolFlags.Optional) === 0);
  const members = wanted.map((member) => {
    const declared = checker.getNonNullableType(checker.getTypeOfSymbol(member));
    const brief =
      (member.flags & ts.SymbolFlags.Optional) === 0
        ? examplesOf(declared, member.name, stack, true)[0]
        : undefined;
    return [member.name, examplesOf(declared, member.name, stack, isShown), brief];
  });
  const combined = combine(members.filter(([, values]) => values.length > 0));
  return isShown ? combined.slice(0, 1) : combined;
}

const typesOf = (type) =>
  checker.getPropertiesOfType(type).map((member) => [member.name, checker.getTypeOfSymbol(member)]);
const [entry] = checker.getExportsOfModule(checker.getSymbolAtLocation(program.getSourceFile(ENTRY)));
const examples = Object.fromEntries(
  typesOf(checker.getDeclaredTypeOfSymbol(entry)).map(([style, parts]) => [
    style,
    Object.fromEntries(
      typesOf(parts).map(([part, type]) => {
        shown.clear();
        return [part, examplesOf(type, part)];
      }),
    ),
  ]),
);

const protos = JSON.parse(readFileSync(join(protoFolder, "build/protos/protos.json"), "utf8"));
const { nested: top } = protos.nested.google.nested.ai.nested.generativelanguage.nested.v1beta;
const SCALARS = {
  bool: true,
  int32: 1,
  int64: "1",
  float: 1,
  double: 1,
  "google.protobuf.Struct": { any: [1, null] },
};

/** The same for a message of Google's protocol buffers. */
function messageExamples(type, name, scopes, above = []) {
  if (type in SCALARS) return [SCALARS[type]];
  const scope = scopes.find(({ nested }) => nested?.[type] !== undefined);
  if (scope === undefined) return [`${name}-1`];
  const definition = scope.nested[type];
  if (definition.values !== undefined) return Object.keys(definition.values).slice(1, 3);
  if (above.includes(definition)) return [];
  const stack = [...above, definition];
  const inner = [{ nested: definition.nested }, ...scopes];
  const members = Object.entries(definition.fields).map(([member, { rule, type: of, keyType }]) => {
    const values = messageExamples(of, member, inner, stack);
    if (values.length === 0) return [member, []];
    if (keyType !== undefined) return [member, [{ [`${member}_a`]: values[0] }]];
    return [member, rule === "repeated" ? [values] : values];
  });
  // Members of a choice exclude one another, but the gateway must not care.
  return combine(members.filter(([, values]) => values.length > 0));
}
const scopes = [{ nested: top }];
const chunks = messageExamples("GenerateContentResponse", "answer", scopes);
examples["content-generation"] = {
  request: messageExamples("GenerateContentRequest", "request", scopes).map(({ model: _, ...rest }) => rest),
  answer: chunks,
  event: chunks,
};

const styles = Object.entries(examples).map(([style, parts]) => {
  const lines = Object.entries(parts).map(
    ([part, values]) =>
      `    ${JSON.stringify(part)}: [\n${values.map((value) => `      ${JSON.stringify(value)}`).join(",\n")}\n    ]`,
  );
  return `  ${JSON.stringify(style)}: {\n${lines.join(",\n")}\n  }`;
});
writeFileSync(join(ROOT, "test/fixtures/published/examples.json"), `{\n${styles.join(",\n")}\n}\n`);

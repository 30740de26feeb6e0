/**
 * Extracts the schemas that the tests check from the types in the vendors' own clients, and writes them to
 * `test/fixtures/published/`.
 *
 * npm install --prefix /tmp/compiler typescript@5 && node scripts/published-types.mjs /tmp/compiler/node_modules/typescript
 *
 * The types come from openai and @anthropic-ai/sdk (Apache-2.0) and from ollama (MIT), as installed here. The compiler must
 * have a JavaScript API. Union variants that this program never writes are left out, so a body with one of them fails the
 * test.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const ROOT = join(import.meta.dirname, "..");
const ASKED = join(ROOT, "asked.ts");
const ENDED =
  "done_reason total_duration load_duration prompt_eval_count prompt_eval_duration eval_count eval_duration".split(
    " ",
  );

const VENDORS = [
  {
    file: "openai",
    name: "openai",
    source: `
      import type { Response, ResponseStreamEvent } from "openai/resources/responses/responses";
      import type { ResponseItemList } from "openai/resources/responses/input-items";
      import type { InputTokenCountResponse } from "openai/resources/responses/input-tokens";
      import type { ChatCompletion, ChatCompletionChunk } from "openai/resources/chat/completions";
      import type { ErrorObject } from "openai/resources/shared";
      interface ErrorResponse { error: ErrorObject }
      export interface Bodies {
        Response: Response; ResponseItemList: ResponseItemList;
        InputTokenCountResponse: InputTokenCountResponse; ErrorResponse: ErrorResponse;
        ChatCompletion: ChatCompletion; ChatCompletionChunk: ChatCompletionChunk;
      }
      export type Events = ResponseStreamEvent;`,
    leftOut:
      /(Audio|Queued|Compacting|CodeInterpreter|FileSearch|ImageGenerationCall|ImageGenCall|Mcp|ComputerTool|Computer|Shell|ApplyPatch|Moderation|ResponsePrompt|PromptCacheOptions|Program)/,
    optional: {
      // The client library adds `output_text`; `access_programs` names programs of the service.
      Response: ["output_text", "access_programs"],
    },
    // The real API sends null here: `user` if the request names none, `usage` until the response has ended.
    nullToo: { Response: ["user", "usage"] },
  },
  {
    file: "anthropic",
    name: "@anthropic-ai/sdk",
    source: `
      import type { Message, MessageTokensCount, RawMessageStreamEvent } from "@anthropic-ai/sdk/resources/messages/messages";
      import type { DeletedFile, FileMetadata } from "@anthropic-ai/sdk/resources/files";
      import type { ModelInfo } from "@anthropic-ai/sdk/resources/models";
      import type { ErrorResponse } from "@anthropic-ai/sdk/resources/shared";
      import type { PageCursorResponse, PageResponse } from "@anthropic-ai/sdk/core/pagination";
      export interface Bodies {
        Message: Message; MessageTokensCount: MessageTokensCount; ErrorResponse: ErrorResponse;
        ModelInfo: ModelInfo; ModelInfosPage: PageResponse<ModelInfo>;
        FileMetadata: FileMetadata; FileMetadataPage: PageCursorResponse<FileMetadata>; DeletedFile: DeletedFile;
      }
      export type Events = RawMessageStreamEvent;`,
    leftOut:
      /^(Redacted|ServerToolCaller|WebFetch|CodeExecution|BashCode|TextEditor|ToolSearch|ContainerUpload|Citation(Char|Page|Content)|CitationsSearch|Signature|ModelCapabilities|CacheMiss|Container$)/,
    optional: {},
    // The real API documents this type for 413; its client library omits it.
    also: { ErrorObject: { type: "object", properties: { type: { const: "request_too_large" } } } },
  },
  {
    file: "ollama",
    name: "ollama",
    source: `
      import type { ChatResponse, EmbedResponse, EmbeddingsResponse, ErrorResponse, GenerateResponse, ListResponse, ShowResponse, VersionResponse } from "ollama/browser";
      export interface Bodies {
        ChatResponse: ChatResponse; GenerateResponse: GenerateResponse; ListResponse: ListResponse; ShowResponse: ShowResponse;
        VersionResponse: VersionResponse; EmbedResponse: EmbedResponse; EmbeddingsResponse: EmbeddingsResponse; ErrorResponse: ErrorResponse;
      }
      export type Events = never;`,
    leftOut: /^Uint8Array$/,
    optional: {
      // Only the last line of a stream has these members.
      ChatResponse: ENDED,
      GenerateResponse: ["context", ...ENDED],
      // One type describes both available and loaded models.
      ModelResponse: ["modified_at", "expires_at", "size_vram"],
      // Only models that include messages have this member.
      ShowResponse: ["messages"],
    },
  },
];

const [compiler] = process.argv.slice(2);
if (compiler === undefined) throw new Error("Where is typescript@5?");
const ts = createRequire(import.meta.url)(compiler);

function programOf(source) {
  const options = {
    strict: true,
    noEmit: true,
    types: [],
    target: ts.ScriptTarget.ES2022,
    lib: ["lib.es2022.d.ts"],
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
  };
  const host = ts.createCompilerHost(options);
  const { getSourceFile, fileExists } = host;
  host.fileExists = (path) => path === ASKED || fileExists(path);
  host.getSourceFile = (path, language, ...rest) =>
    path === ASKED
      ? ts.createSourceFile(path, source, language, true)
      : getSourceFile(path, language, ...rest);
  const program = ts.createProgram([ASKED], options, host);
  const [fault] = program.getSemanticDiagnostics(program.getSourceFile(ASKED));
  if (fault !== undefined) throw new Error(ts.flattenDiagnosticMessageText(fault.messageText, "\n"));
  return program;
}

/** Creates schemas for types. Stores named types in `cut`. */
function cutter(checker, { leftOut, optional, nullToo = {}, also = {} }) {
  const cut = {};
  const names = new Map();

  const nameOf = (type) => type.aliasSymbol?.name ?? type.symbol?.name ?? "";
  const isNull = ({ flags }) => (flags & ts.TypeFlags.Null) !== 0;

  function object(type) {
    const rest = checker.getIndexTypeOfType(type, ts.IndexKind.String);
    if (rest !== undefined) return { type: "object", additionalProperties: schemaOf(rest) };
    const members = checker.getPropertiesOfType(type);
    const free = optional[nameOf(type)] ?? [];
    const required = members
      .filter(({ flags, name }) => (flags & ts.SymbolFlags.Optional) === 0 && !free.includes(name))
      .map(({ name }) => name);
    const properties = members.map((member) => {
      const declared = checker.getTypeOfSymbol(member);
      // Without null, the compiler would return an object type.
      if (declared.flags & ts.TypeFlags.Unknown) return [member.name, {}];
      const schema = schemaOf(checker.getNonNullableType(declared), declared);
      const orNull = (nullToo[nameOf(type)] ?? []).includes(member.name);
      return [member.name, orNull ? { anyOf: [schema, { type: "null" }] } : schema];
    });
    return {
      type: "object",
      properties: Object.fromEntries(properties),
      ...(required.length > 0 && { required }),
    };
  }

  function union(type) {
    const kept = type.types.filter((each) => !leftOut.test(nameOf(each)));
    if (kept.length > 0 && kept.every((each) => each.isLiteral()))
      return { enum: kept.map(({ value }) => value) };
    // `"one name" | (string & {})`
    if (kept.some((each) => each.isIntersection())) return { type: "string" };
    const found = [
      ...kept.map((each) => schemaOf(each)),
      ...(also[nameOf(type)] ? [also[nameOf(type)]] : []),
    ];
    return found.length === 1 ? found[0] : { anyOf: found };
  }

  /** `declared`: the same type including null, if the member may be null. */
  function schemaOf(type, declared = type) {
    if (declared.isUnion() && declared.types.some(isNull)) {
      return { anyOf: [schemaOf(type), { type: "null" }] };
    }
    const { flags } = type;
    if (flags & (ts.TypeFlags.Any | ts.TypeFlags.Unknown)) return {};
    if (flags & ts.TypeFlags.String) return { type: "string" };
    if (flags & ts.TypeFlags.Number) return { type: "number" };
    if (flags & ts.TypeFlags.Boolean) return { type: "boolean" };
    if (flags & ts.TypeFlags.BooleanLiteral) return { const: type.intrinsicName === "true" };
    if (type.isLiteral()) return { const: type.value };
    if (checker.isArrayType(type))
      return { type: "array", items: schemaOf(checker.getTypeArguments(type)[0]) };
    const name = nameOf(type);
    // In their JSON form.
    if (name === "Date") return { type: "string" };
    if (name === "Map") return { type: "object" };
    if (leftOut.test(name)) return { not: {} };
    if (name === "" || name.startsWith("__")) return type.isUnion() ? union(type) : object(type);
    const known = names.get(type);
    if (known !== undefined) return { $ref: `#/$defs/${known}` };
    const own = name in cut ? `${name}${names.size}` : name;
    names.set(type, own);
    cut[own] = {};
    cut[own] = type.isUnion() ? union(type) : object(type);
    return { $ref: `#/$defs/${own}` };
  }

  return { cut, schemaOf };
}

for (const vendor of VENDORS) {
  const program = programOf(vendor.source);
  const checker = program.getTypeChecker();
  const { cut, schemaOf } = cutter(checker, vendor);
  const asked = checker.getExportsOfModule(checker.getSymbolAtLocation(program.getSourceFile(ASKED)));
  const typeOf = (wanted) => checker.getDeclaredTypeOfSymbol(asked.find(({ name }) => name === wanted));
  for (const member of checker.getPropertiesOfType(typeOf("Bodies"))) {
    const schema = schemaOf(checker.getTypeOfSymbol(member));
    if (schema.$ref !== `#/$defs/${member.name}`) cut[member.name] = schema;
  }
  const events = (typeOf("Events").types ?? []).flatMap((type) => {
    const name = schemaOf(type).$ref?.replace("#/$defs/", "");
    return name === undefined ? [] : [[cut[name].properties.type.const, name]];
  });
  const { version, license } = JSON.parse(
    readFileSync(join(ROOT, "node_modules", vendor.name, "package.json"), "utf8"),
  );
  const $comment = `Cut by scripts/published-types.mjs out of ${vendor.name} ${version} (${license}).`;
  const definitions = Object.keys(cut)
    .sort()
    .map((name) => `    ${JSON.stringify(name)}: ${JSON.stringify(cut[name])}`);
  writeFileSync(
    join(ROOT, "test/fixtures/published", `${vendor.file}.json`),
    `{\n  "$comment": ${JSON.stringify($comment)},\n  "events": ${JSON.stringify(Object.fromEntries(events))},\n  "$defs": {\n${definitions.join(",\n")}\n  }\n}\n`,
  );
}

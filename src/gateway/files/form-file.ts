import { Busboy, type BusboyInstance } from "@fastify/busboy";
import { invalidRequest } from "../../core/errors/gateway-error.ts";
import type { BodyLimits } from "./incoming-body.ts";
import { MULTIPART_FORM, MultipartFile, type PartSink } from "./multipart-file.ts";

/** Form fields are short. The parser truncates longer ones. */
const LIMITS = { fieldSize: 16 * 1024, parts: 100, headerPairs: 50, headerSize: 16 * 1024 };

/** Supported form fields. Other fields are ignored. */
const SUPPORTED_FIELDS: ReadonlySet<string> = new Set([
  "purpose",
  "expires_after[anchor]",
  "expires_after[seconds]",
  "expires_in_seconds",
]);

/**
 * Reads the file in an uploaded form (`multipart/form-data`).
 *
 * @param check Called with the form's fields after the whole form was read. If it throws, the upload fails.
 * @throws GatewayError 400 for any other type of body, 413 for a declared length above the limit.
 */
export function readFormFile(
  request: Request,
  limits: BodyLimits,
  check?: (fields: ReadonlyMap<string, string>) => void,
): MultipartFile {
  const type = request.headers.get("content-type") ?? "";
  if (!MULTIPART_FORM.test(type) || request.body === null) {
    throw invalidRequest("a file is uploaded as multipart/form-data with a boundary");
  }
  return new MultipartFile(request, limits, (sink) => createParser(type, sink), check);
}

function createParser(contentType: string, sink: PartSink): BusboyInstance {
  let parser: BusboyInstance;
  try {
    parser = new Busboy({
      headers: { "content-type": contentType.trim() },
      limits: LIMITS,
      // A part with the name `file` is the file, even if the client sends no file name.
      isPartAFile: (name, _type, filename) => name === "file" || filename !== undefined,
    });
  } catch {
    throw invalidRequest("a file is uploaded as multipart/form-data with a boundary");
  }
  parser.on("field", (name, value) => {
    if (SUPPORTED_FIELDS.has(name)) sink.field(name, value);
  });
  let hasFile = false;
  parser.on("file", (name, file, filename, _encoding, mediaType) => {
    // Ignore this error: the parser reports the same error.
    file.on("error", () => undefined);
    if (name !== "file" || hasFile) {
      file.resume();
      return;
    }
    hasFile = true;
    sink.begin({ filename: filename || "file", mediaType });
    file.on("data", (piece: Uint8Array) => sink.piece(piece));
  });
  return parser;
}

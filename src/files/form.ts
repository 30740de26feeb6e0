import { Busboy, type BusboyInstance } from "@fastify/busboy";
import { invalidRequest } from "../errors/gateway-error.ts";
import type { BodyLimits } from "./incoming-body.ts";
import { MultipartFile, type PartSink } from "./parts.ts";

/** Form fields are short; what is longer is cut off. */
const LIMITS = { fieldSize: 16 * 1024, parts: 100, headerPairs: 50, headerSize: 16 * 1024 };

/** The fields that mean something; what else a form has is not kept. */
const FIELDS: ReadonlySet<string> = new Set([
  "purpose",
  "expires_after[anchor]",
  "expires_after[seconds]",
  "expires_in_seconds",
]);

const MULTIPART = /^\s*multipart\/form-data\s*;/i;

/**
 * The file in an uploaded form (`multipart/form-data`).
 *
 * @param check Called with the form's fields when the whole form has been read; what it throws fails the form.
 * @throws GatewayError 400 for anything but a multipart form, 413 for a declared length beyond the limit.
 */
export function fileInForm(
  request: Request,
  limits: BodyLimits,
  check?: (fields: ReadonlyMap<string, string>) => void,
): MultipartFile {
  const type = request.headers.get("content-type") ?? "";
  if (!MULTIPART.test(type) || request.body === null) {
    throw invalidRequest("a file is uploaded as multipart/form-data with a boundary");
  }
  return new MultipartFile(request, limits, (sink) => parserOf(type, sink), check);
}

function parserOf(contentType: string, sink: PartSink): BusboyInstance {
  let parser: BusboyInstance;
  try {
    parser = new Busboy({
      headers: { "content-type": contentType.trim() },
      limits: LIMITS,
      // Whatever is called so is the file, also when a client forgets to name it.
      isPartAFile: (name, _type, filename) => name === "file" || filename !== undefined,
    });
  } catch {
    throw invalidRequest("a file is uploaded as multipart/form-data with a boundary");
  }
  parser.on("field", (name, value) => {
    if (FIELDS.has(name)) sink.field(name, value);
  });
  let found = false;
  parser.on("file", (name, file, filename, _encoding, mediaType) => {
    // What ends a broken part ends the parser too, and is heard of there.
    file.on("error", () => undefined);
    if (name !== "file" || found) {
      file.resume();
      return;
    }
    found = true;
    sink.begin({ filename: filename || "file", mediaType });
    file.on("data", (piece: Uint8Array) => sink.piece(piece));
  });
  return parser;
}

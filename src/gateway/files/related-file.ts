import { Dicer } from "@fastify/busboy";
import { isObject, type JsonObject } from "../../core/encoding/json.ts";
import { invalidRequest } from "../../core/errors/gateway-error.ts";
import { invalidJson } from "../../core/http/json-text.ts";
import type { BodyLimits } from "./incoming-body.ts";
import {
  findBoundary,
  getPartHeader,
  MultipartFile,
  PART_OPTIONS,
  type PartParser,
  type PartSink,
} from "./multipart-file.ts";
import type { FileHead } from "./upload.ts";

/** Maximum length of a file's metadata, in characters. */
const MAX_METADATA = 64 * 1024;

const MULTIPART_RELATED = /^\s*multipart\/related\s*;/i;

/** Builds the description of a file from its metadata and the media type of its part. */
export type FileHeadParser = (metadata: JsonObject, mediaType: string) => FileHead;

/**
 * Reads the file in a `multipart/related` body (RFC 2387): the first part is JSON metadata, the second part is the file.
 *
 * @throws GatewayError 400 for any other type of body, 413 for a declared length above the limit.
 */
export function readRelatedFile(
  request: Request,
  limits: BodyLimits,
  parseHead: FileHeadParser,
): MultipartFile {
  const type = request.headers.get("content-type") ?? "";
  const boundary = findBoundary(type);
  if (!MULTIPART_RELATED.test(type) || boundary === undefined || request.body === null) {
    throw invalidRequest("metadata and a file are uploaded as multipart/related with a boundary");
  }
  return new MultipartFile(request, limits, (sink) => createParser(boundary, sink, parseHead));
}

function createParser(boundary: string, sink: PartSink, parseHead: FileHeadParser): PartParser {
  const parser = new Dicer({ boundary, ...PART_OPTIONS });
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: false });
  let text = "";
  let parts = 0;
  const described = Promise.withResolvers<void>();
  parser.on("part", (part) => {
    parts += 1;
    // Ignore this error: the parser reports the same error.
    part.on("error", () => undefined);
    if (parts === 1) {
      part.on("data", (piece: Uint8Array) => {
        try {
          text += decoder.decode(piece, { stream: true });
        } catch {
          sink.fail(invalidJson());
        }
        if (text.length > MAX_METADATA) sink.fail(metadataTooLargeError());
      });
      part.on("end", () => described.resolve());
      return;
    }
    if (parts > 2) {
      part.resume();
      return;
    }
    part.on("header", async (header) => {
      await described.promise;
      try {
        sink.begin(parseHead(parseMetadata(text), getPartHeader(header, "content-type") ?? ""));
      } catch (error) {
        sink.fail(error);
      }
      part.on("data", (piece: Uint8Array) => sink.piece(piece));
    });
  });
  return parser;
}

function parseMetadata(text: string): JsonObject {
  let metadata: unknown;
  try {
    metadata = JSON.parse(text === "" ? "{}" : text);
  } catch {
    throw invalidJson();
  }
  if (isObject(metadata)) return metadata;
  throw invalidRequest("the metadata of a file must be an object");
}

function metadataTooLargeError(): Error {
  return invalidRequest(`the metadata of a file may have ${MAX_METADATA} characters`);
}

import type { AttachmentSource, Conversation, Part } from "../../../core/conversation/conversation.ts";
import { fromBase64, fromBase64Url, toUtf8 } from "../../../core/encoding/bytes.ts";
import { parseDataUrl } from "../../../core/encoding/data-url.ts";
import { GatewayError, invalidRequest } from "../../../core/errors/gateway-error.ts";
import { ProviderError } from "../../../core/errors/provider-error.ts";
import type { PrepareOptions } from "../provider.ts";

/** An attachment as the model receives it. `text` goes into the prompt. The other kinds are sent beside the prompt. */
export type Attachment =
  | { readonly kind: "text"; readonly filename: string; readonly text: string }
  | {
      readonly kind: "image" | "document";
      readonly filename: string;
      /** Where the bytes are: in memory, behind a URL, or already stored by the provider. */
      readonly source:
        | { readonly kind: "bytes"; readonly bytes: Uint8Array; readonly mediaType: string }
        | { readonly kind: "url"; readonly url: string }
        | Extract<AttachmentSource, { kind: "file" }>;
    };

/** The bytes of an attachment, in memory. */
export interface LoadedAttachment {
  readonly bytes: Uint8Array;
  readonly mediaType: string;
}

const TEXT_TYPE =
  /^(?:text\/|application\/(?:.*\+)?(?:json|xml|yaml|x-yaml|toml|javascript|x-javascript|ecmascript|typescript|x-sh|sql|graphql|x-ndjson|rtf)$)/;
const TEXT_NAME =
  /\.(?:txt|md|markdown|csv|tsv|json|jsonl|ndjson|xml|ya?ml|toml|ini|cfg|conf|log|html?|css|[cm]?[jt]sx?|py|rb|go|rs|java|kt|swift|c|h|cc|cpp|hpp|cs|php|sh|bash|sql|tex|rst|diff|patch)$/i;

const EXTENSIONS = new Map(
  Object.entries({
    "image/png": "png",
    "image/jpeg": "jpg",
    "image/gif": "gif",
    "image/webp": "webp",
    "application/pdf": "pdf",
    "text/plain": "txt",
  }),
);

/**
 * Reads the attachments of one conversation. Equal attachments in several places are read once and yield the same
 * object, so each is uploaded once.
 */
export class AttachmentReader {
  readonly #conversation: Conversation;
  /** Keyed by part type and source kind, then by locator. A single combined key would copy all inline data. */
  readonly #known = new Map<string, Map<string, Attachment>>();

  constructor(conversation: Conversation) {
    this.#conversation = conversation;
  }

  /**
   * Classifies an image or file part for the model.
   *
   * @throws GatewayError 400 for broken data.
   */
  read(part: Exclude<Part, { type: "text" }>): Attachment {
    const { source } = part;
    const locator = source.kind === "url" ? source.url : source.kind === "file" ? source.fileId : source.data;
    const kind = `${part.type} ${source.kind}`;
    const known = this.#known.get(kind) ?? new Map<string, Attachment>();
    this.#known.set(kind, known);
    const attachment = known.get(locator) ?? this.#classify(part);
    known.set(locator, attachment);
    return attachment;
  }

  #classify(part: Exclude<Part, { type: "text" }>): Attachment {
    const { source } = part;
    const name = part.type === "file" ? part.filename : undefined;
    if (source.kind === "file") {
      const { fileId, stored } = source;
      const isStoredImage = stored?.mediaType.startsWith("image/") ?? part.type === "image";
      return {
        kind: isStoredImage ? "image" : "document",
        filename: name ?? stored?.filename ?? fileId,
        source,
      };
    }
    if (source.kind === "url" && !/^data:/i.test(source.url)) {
      const kind = isImage(part) ? "image" : "document";
      return { kind, filename: name ?? nameInUrl(source.url) ?? kind, source };
    }
    const { bytes, mediaType } = this.#inline(source, part.type === "file" ? part.mediaType : undefined);
    const image = isImage(part);
    const fallback = `${image ? "image" : "document"}.${EXTENSIONS.get(mediaType) ?? "bin"}`;
    const filename = name ?? fallback;
    if (!image && isText(mediaType, filename)) {
      return { kind: "text", filename, text: new TextDecoder().decode(bytes) };
    }
    return { kind: image ? "image" : "document", filename, source: { kind: "bytes", bytes, mediaType } };
  }

  #inline(source: AttachmentSource, declaredType: string | undefined): LoadedAttachment {
    if (source.kind === "inline") {
      // Some callers send a whole data URL where the API expects base64.
      if (!source.data.startsWith("data:")) {
        return {
          bytes: this.#base64(source.data),
          mediaType: mediaTypeName(source.mediaType || declaredType),
        };
      }
      return this.#dataUrl(source.data, source.mediaType || declaredType);
    }
    return this.#dataUrl(source.kind === "url" ? source.url : "", declaredType);
  }

  #dataUrl(text: string, declaredType: string | undefined): LoadedAttachment {
    const url = parseDataUrl(text);
    if (url === null) throw this.#fault("a data URL without data");
    const mediaType = mediaTypeName(url.mediaType || declaredType || "text/plain");
    if (url.base64) return { bytes: this.#base64(url.data), mediaType };
    try {
      return { bytes: toUtf8(decodeURIComponent(url.data)), mediaType };
    } catch {
      throw this.#fault("a data URL with broken percent-encoding");
    }
  }

  #base64(data: string): Uint8Array {
    try {
      // The decoder skips white space and accepts missing padding. It does not accept the URL-safe alphabet.
      return /[-_%]/.test(data) ? fromBase64Url(decodeURIComponent(data)) : fromBase64(data);
    } catch {
      throw this.#fault("an attachment whose base64 is broken");
    }
  }

  #fault(problem: string): GatewayError {
    const field = this.#conversation.contentField;
    return invalidRequest(`${field} contains ${problem}`, field);
  }
}

/** Returns the id by which the provider knows a file. */
export function providerFileId({ fileId, stored }: Extract<AttachmentSource, { kind: "file" }>): string {
  return stored?.id ?? fileId;
}

/**
 * A URL turned out to be an image only after loading, and the model has no vision. Status 400, unless another model
 * has vision.
 */
export class ImageWithoutVisionError extends GatewayError {
  /** `field` is the name of the messages field in the caller's API style. */
  constructor(field: string, filename: string) {
    super(400, `${field} contains an image, ${filename}, but the model has no vision`, {
      code: "invalid_request",
      param: field,
    });
  }
}

/** Whether a file is text, judged by its media type and its name. */
export function isText(mediaType: string, filename: string): boolean {
  return TEXT_TYPE.test(mediaType) || (TEXT_NAME.test(filename) && !/^image\/|\/pdf$/.test(mediaType));
}

/**
 * Returns the bytes of an attachment and fetches them if they are behind a URL. Throws `invalid_request` for a file
 * that the provider stores.
 */
export async function loadAttachment(
  attachment: Exclude<Attachment, { kind: "text" }>,
  options: PrepareOptions,
  signal: AbortSignal,
): Promise<LoadedAttachment> {
  const { source } = attachment;
  if (source.kind === "bytes") return source;
  if (source.kind === "url") return options.fetchAttachment(source.url, signal);
  throw new ProviderError("invalid_request", `the content of the file ${source.fileId} is not at hand`);
}

/** Whether a part is an image, according to the media types that the caller stated. */
export function isImage(part: Exclude<Part, { type: "text" }>): boolean {
  if (part.type === "image") return true;
  const { source, mediaType } = part;
  // Some callers send a whole data URL where the API expects base64.
  const text = source.kind === "url" ? source.url : source.kind === "inline" ? source.data : "";
  const ownType = parseDataUrl(text)?.mediaType || (source.kind === "inline" ? source.mediaType : "");
  return mediaTypeName(ownType || mediaType).startsWith("image/");
}

function mediaTypeName(mediaType: string | undefined): string {
  return mediaType?.split(";", 1)[0]?.trim().toLowerCase() || "application/octet-stream";
}

function nameInUrl(url: string): string | undefined {
  try {
    const name = new URL(url).pathname.split("/").at(-1);
    return name ? decodeURIComponent(name) : undefined;
  } catch {
    return undefined;
  }
}

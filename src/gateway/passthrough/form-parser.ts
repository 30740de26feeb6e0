import { Busboy, type BusboyInstance } from "@fastify/busboy";
import { toUtf8 } from "../../core/encoding/bytes.ts";
import { GatewayError, invalidRequest } from "../../core/errors/gateway-error.ts";
import { OTHER_MODEL_MEMBERS } from "../dialects/chat-completions/native.ts";
import { MAX_MEDIA_TYPE_LENGTH, MULTIPART_FORM } from "../files/multipart-file.ts";
import { encodePartHead } from "../providers/files/multipart.ts";

/**
 * Whether a field names models: `model` in a form that some readers take for it (another case, `model[]`), or other models
 * that a provider may choose. No endpoint with forms has such a field, and keys may be limited to certain models.
 */
function namesModels(field: string): boolean {
  const [name = ""] = field.split("[", 1);
  return ["model", ...OTHER_MODEL_MEMBERS].includes(name.trim().toLowerCase());
}

/** The most bytes of all text fields together. */
export const MAX_TEXT_BYTES = 256 * 1024;
const LIMITS = { fieldSize: MAX_TEXT_BYTES, parts: 100, headerPairs: 50, headerSize: 16 * 1024 };

const PLAIN_TEXT = "text/plain";
/** Media types of parts that are text if they have no file name. The bytes of all others stay as they are. */
const TEXT_TYPES = /^(?:text\/|application\/json$)/;
const LINE_BREAK = toUtf8("\r\n");

/** A text field or a file of a form. */
export interface FormField {
  readonly name: string;
  /** The text of a field, or a description of a file. */
  readonly text: string;
  readonly isFile: boolean;
}

function notAForm(): GatewayError {
  return invalidRequest("the body must be multipart/form-data with a boundary");
}

/** A part of the form that is written again. Parts leave in their order. */
interface Part {
  readonly pieces: Uint8Array[];
  isComplete: boolean;
}

/**
 * Parses a form while it arrives, and writes its parts again with another boundary: readers of a form may disagree about
 * unusual ones, and the provider must see what the gateway saw. The field `model` is left out.
 */
export class FormParser {
  /** The fields and files so far, in their order, without `model`. */
  readonly fields: FormField[] = [];
  /** The value of the first field `model`. */
  model: string | undefined;
  readonly #parser: BusboyInstance;
  readonly #boundary: string;
  readonly #parts: Part[] = [];
  #textBytes = 0;
  readonly #broken: Promise<never>;
  readonly #finished: Promise<void>;
  readonly #fail: (error: GatewayError) => void;
  /** The second `model` of a form is refused. */
  readonly #isModelUnique: boolean;

  /**
   * @param boundary of the written form: a text that occurs in no part
   * @param isModelUnique whether a second field `model` is refused. False: the fields `model` do not count
   * @throws GatewayError 400 for a media type that is no form
   */
  constructor(contentType: string, boundary: string, isModelUnique: boolean) {
    if (!MULTIPART_FORM.test(contentType) || contentType.length > MAX_MEDIA_TYPE_LENGTH) throw notAForm();
    this.#boundary = boundary;
    this.#isModelUnique = isModelUnique;
    const { promise, reject } = Promise.withResolvers<never>();
    this.#broken = promise;
    this.#fail = reject;
    promise.catch(() => undefined);
    try {
      this.#parser = new Busboy({
        headers: { "content-type": contentType.trim() },
        limits: LIMITS,
        isPartAFile: (_, type = PLAIN_TEXT, filename) => filename !== undefined || !TEXT_TYPES.test(type),
      });
    } catch {
      throw notAForm();
    }
    this.#finished = new Promise((resolve) => this.#parser.on("finish", resolve));
    this.#parser.on("error", () => reject(invalidRequest("the multipart form is broken or cut off")));
    this.#parser.on("partsLimit", () => reject(invalidRequest(`a form has at most ${LIMITS.parts} parts`)));
    this.#parser.on("field", (name, value, _, isTruncated, __, mediaType) =>
      this.#addField(name, value, isTruncated, mediaType),
    );
    this.#parser.on("file", (name, file, filename, _, mediaType) => {
      const part = this.#addFile(name, filename, mediaType);
      file.on("data", (piece: Uint8Array) => part.pieces.push(piece));
      // The parser reports the same error.
      file.on("error", () => undefined);
      file.on("end", () => {
        part.pieces.push(LINE_BREAK);
        part.isComplete = true;
      });
    });
  }

  /** Parses bytes. Throws a `GatewayError` 400 or 413 for an invalid form. */
  async write(bytes: Uint8Array): Promise<void> {
    const written = new Promise<void>((resolve) => {
      this.#parser.write(bytes, () => resolve());
    });
    await Promise.race([this.#broken, written]);
  }

  /** Ends the form. Throws a `GatewayError` 400 for a form without an end. */
  async end(): Promise<void> {
    this.#parser.end();
    await Promise.race([this.#broken, this.#finished]);
  }

  /** Removes and returns the written pieces that are ready. */
  takePieces(): Uint8Array[] {
    const ready: Uint8Array[] = [];
    for (let part = this.#parts[0]; part !== undefined; part = this.#parts[0]) {
      ready.push(...part.pieces.splice(0));
      if (!part.isComplete) break;
      this.#parts.shift();
    }
    return ready;
  }

  #addField(name: string | undefined, value: string, isTruncated: boolean, mediaType: string): void {
    const text = toUtf8(`${value}\r\n`);
    this.#textBytes += text.length;
    if (name === undefined) this.#fail(invalidRequest("a part of the form has no name"));
    else if (isTruncated || this.#textBytes > MAX_TEXT_BYTES) {
      const message = `the text fields of a form have at most ${MAX_TEXT_BYTES} bytes`;
      this.#fail(new GatewayError(413, message, { code: "request_too_large", param: name }));
    } else if (name === "model") {
      if (this.#isModelUnique && this.model !== undefined)
        this.#fail(invalidRequest("the form names model twice", "model"));
      this.model ??= value;
    } else if (namesModels(name)) {
      this.#fail(invalidRequest("the form names models in another field than model", "model"));
    } else {
      this.fields.push({ name, text: value, isFile: false });
      const type = mediaType === PLAIN_TEXT ? {} : { mediaType };
      const head = toUtf8(encodePartHead({ name, ...type }, this.#boundary));
      this.#parts.push({ pieces: [head, text], isComplete: true });
    }
  }

  #addFile(name: string | undefined, filename: string | undefined, mediaType: string): Part {
    if (name === undefined) this.#fail(invalidRequest("a part of the form has no name"));
    if (name !== undefined && namesModels(name))
      this.#fail(invalidRequest("model must be a text field", "model"));
    this.fields.push({ name: name ?? "", text: `[${filename ?? "file"}, ${mediaType}]`, isFile: true });
    const named = filename === undefined ? {} : { filename };
    const head = encodePartHead({ name: name ?? "", mediaType, ...named }, this.#boundary);
    const part: Part = { pieces: [toUtf8(head)], isComplete: false };
    this.#parts.push(part);
    return part;
  }
}

import { Dicer } from "@fastify/busboy";
import { ByteCollector } from "../../core/encoding/byte-collector.ts";
import { toUtf8 } from "../../core/encoding/bytes.ts";
import { GatewayError, invalidRequest } from "../../core/errors/gateway-error.ts";
import { OTHER_MODEL_MEMBERS } from "../dialects/chat-completions/native.ts";
import {
  findBoundary,
  MAX_MEDIA_TYPE_LENGTH,
  MULTIPART_FORM,
  PART_OPTIONS,
} from "../files/multipart-file.ts";
import { encodePartHead } from "../providers/files/multipart.ts";
import { type FormPartHead, parseFormPartHead, splitMediaType } from "./form-part-head.ts";

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
const MAX_PARTS = 100;
/** Of the headers of one part. */
const MAX_HEAD_BYTES = 16 * 1024;

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

/** Receives the bytes of a part, and its end. */
interface PartReader {
  read(piece: Uint8Array): void;
  end(): void;
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
  readonly #parser: Dicer;
  readonly #boundary: string;
  readonly #parts: Part[] = [];
  #count = 0;
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
    const given = findBoundary(contentType);
    if (
      !MULTIPART_FORM.test(contentType) ||
      contentType.length > MAX_MEDIA_TYPE_LENGTH ||
      given === undefined
    )
      throw notAForm();
    this.#boundary = boundary;
    this.#isModelUnique = isModelUnique;
    const { promise, reject } = Promise.withResolvers<never>();
    this.#broken = promise;
    this.#fail = reject;
    promise.catch(() => undefined);
    this.#parser = new Dicer({ boundary: given, ...PART_OPTIONS });
    this.#parser.on("error", () => reject(invalidRequest("the multipart form is broken or cut off")));
    const ends: Promise<void>[] = [];
    this.#parser.on("part", (part) => {
      ends.push(new Promise((resolve) => part.on("end", resolve)));
      this.#readPart(part);
    });
    this.#finished = new Promise<void>((resolve) => this.#parser.on("finish", resolve)).then(async () => {
      await Promise.all(ends);
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

  #readPart(part: Dicer.PartStream): void {
    this.#count += 1;
    if (this.#count > MAX_PARTS) this.#fail(invalidRequest(`a form has at most ${MAX_PARTS} parts`));
    let reader: PartReader | null = null;
    part.on("header", (headers) => {
      reader = this.#openPart(headers);
    });
    part.on("data", (piece: Uint8Array) => reader?.read(piece));
    // The parser reports the same error.
    part.on("error", () => undefined);
    part.on("end", () => {
      if (reader === null) this.#fail(brokenHead());
      else reader.end();
    });
  }

  #openPart(headers: object): PartReader | null {
    const isTooLong = Object.entries(headers).flat(2).join("").length > MAX_HEAD_BYTES;
    const head = isTooLong ? null : parseFormPartHead(headers);
    if (head === null) return null;
    const { name, filename, mediaType = PLAIN_TEXT } = head;
    if (filename === undefined && TEXT_TYPES.test(splitMediaType(mediaType).type))
      return this.#openText(head);
    if (namesModels(name)) this.#fail(invalidRequest("model must be a text field", "model"));
    this.fields.push({ name, text: `[${filename ?? "file"}, ${mediaType}]`, isFile: true });
    const part = this.#addPart(head);
    return {
      read: (piece) => void part.pieces.push(piece),
      end: () => {
        part.pieces.push(LINE_BREAK);
        part.isComplete = true;
      },
    };
  }

  #openText({ name, mediaType = PLAIN_TEXT }: FormPartHead): PartReader {
    const isModel = name === "model";
    if (!isModel && namesModels(name))
      this.#fail(invalidRequest("the form names models in another field than model", "model"));
    const { type, charset } = splitMediaType(mediaType);
    const at = this.fields.length;
    if (!isModel) this.fields.push({ name, text: "", isFile: false });
    // Text is written as UTF-8.
    const stated = /^utf-?8$/i.test(charset) ? mediaType : type;
    const part = isModel
      ? null
      : this.#addPart({ name, ...(stated === PLAIN_TEXT ? {} : { mediaType: stated }) });
    const bytes = new ByteCollector();
    return {
      read: (piece) => {
        this.#textBytes += piece.length;
        if (this.#textBytes <= MAX_TEXT_BYTES) bytes.push(piece);
        else {
          const message = `the text fields of a form have at most ${MAX_TEXT_BYTES} bytes`;
          this.#fail(new GatewayError(413, message, { code: "request_too_large", param: name }));
        }
      },
      end: () => {
        const text = this.#decode(bytes.join(), charset);
        if (part === null) this.#addModel(text);
        else {
          this.fields[at] = { name, text, isFile: false };
          part.pieces.push(toUtf8(`${text}\r\n`));
          part.isComplete = true;
        }
      },
    };
  }

  #addModel(name: string): void {
    if (this.#isModelUnique && this.model !== undefined)
      this.#fail(invalidRequest("the form names model twice", "model"));
    this.model ??= name;
  }

  #addPart(head: FormPartHead): Part {
    const part = { pieces: [toUtf8(encodePartHead(head, this.#boundary))], isComplete: false };
    this.#parts.push(part);
    return part;
  }

  #decode(bytes: Uint8Array, charset: string): string {
    try {
      return new TextDecoder(charset).decode(bytes);
    } catch {
      this.#fail(invalidRequest("a part of the form has an unknown character set"));
      return "";
    }
  }
}

function brokenHead(): GatewayError {
  return invalidRequest(
    `each part of a form needs a valid Content-Disposition: form-data with a name, and headers of at most ${MAX_HEAD_BYTES} bytes`,
  );
}

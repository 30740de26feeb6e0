import { concatBytes } from "../../../core/encoding/bytes.ts";
/** A file and its fields, to send as `multipart/form-data`. */
export interface OutgoingFile {
  /** Sent before the file. */
  readonly fields: Readonly<Record<string, string>>;
  /** Called at the end of the file, for fields whose values may not be known earlier. */
  readonly fieldsAfter?: () => Readonly<Record<string, string>>;
  readonly filename: string;
  readonly mediaType: string;
  readonly body: ReadableStream<Uint8Array> | Uint8Array;
}

/** A multipart body and its `Content-Type`. */
export interface MultipartBody {
  readonly contentType: string;
  readonly body: ReadableStream<Uint8Array> | Uint8Array<ArrayBuffer>;
}

/** A part that holds a file. */
type FilePart = Pick<OutgoingFile, "mediaType" | "body">;

/** Quotes a name in a header. Percent-encodes quotes, line breaks (RFC 7578, section 2) and other control characters. */
function quoteName(name: string): string {
  return `"${name.replace(/["\p{Cc}]/gu, (character) => encodeURIComponent(character))}"`;
}

/** The name and the type of a part. */
export interface PartHead {
  readonly name: string;
  readonly filename?: string;
  /** Absent: plain text. */
  readonly mediaType?: string;
}

/** Encodes the boundary before a part, and the part's headers. */
export function encodePartHead({ name, filename, mediaType }: PartHead, boundary: string): string {
  const file = filename === undefined ? "" : `; filename=${quoteName(filename)}`;
  const type = mediaType === undefined ? "" : `Content-Type: ${toHeaderText(mediaType)}\r\n`;
  return `--${boundary}\r\nContent-Disposition: form-data; name=${quoteName(name)}${file}\r\n${type}\r\n`;
}

/**
 * Encodes one file and its fields. A stream stays a stream, so a 100 MiB upload is never held in memory. `FormData`
 * cannot do this.
 *
 * @param boundary A text that does not occur in the file.
 */
export function encodeMultipart(file: OutgoingFile, boundary: string): MultipartBody {
  const encoder = new TextEncoder();
  const { fields, fieldsAfter, filename, mediaType, body } = file;
  const head = encoder.encode(
    encodeFields(fields, boundary) + encodePartHead({ name: "file", filename, mediaType }, boundary),
  );
  const tail = () =>
    encoder.encode(`\r\n${encodeFields(fieldsAfter?.() ?? {}, boundary)}--${boundary}--\r\n`);
  return { contentType: `multipart/form-data; boundary=${boundary}`, body: joinBody(head, body, tail) };
}

/**
 * Encodes JSON metadata and a file as `multipart/related` (RFC 2387). A stream stays a stream.
 *
 * @param boundary A text that does not occur in the file.
 */
export function encodeRelated(
  metadata: object,
  { mediaType, body }: FilePart,
  boundary: string,
): MultipartBody {
  const encoder = new TextEncoder();
  const head = encoder.encode(
    `--${boundary}\r\nContent-Type: application/json; charset=UTF-8\r\n\r\n${JSON.stringify(metadata)}\r\n` +
      `--${boundary}\r\nContent-Type: ${toHeaderText(mediaType)}\r\n\r\n`,
  );
  const tail = () => encoder.encode(`\r\n--${boundary}--\r\n`);
  return { contentType: `multipart/related; boundary=${boundary}`, body: joinBody(head, body, tail) };
}

function toHeaderText(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, "");
}

function joinBody(head: Uint8Array, body: FilePart["body"], tail: () => Uint8Array): MultipartBody["body"] {
  return body instanceof Uint8Array ? concatBytes([head, body, tail()]) : frameBody(head, body, tail);
}

function encodeFields(fields: Readonly<Record<string, string>>, boundary: string): string {
  let text = "";
  for (const [name, value] of Object.entries(fields)) {
    text += `${encodePartHead({ name }, boundary)}${value}\r\n`;
  }
  return text;
}

function frameBody(
  head: Uint8Array,
  body: ReadableStream<Uint8Array>,
  tail: () => Uint8Array,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  let hasStarted = false;
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      if (!hasStarted) {
        hasStarted = true;
        controller.enqueue(head);
        return;
      }
      const { done, value } = await reader.read();
      controller.enqueue(done ? tail() : value);
      if (done) controller.close();
    },
    cancel: (reason) => reader.cancel(reason),
  });
}

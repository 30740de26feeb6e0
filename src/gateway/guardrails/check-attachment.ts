import type { Part } from "../../core/conversation/conversation.ts";
import { toBase64, toUtf8 } from "../../core/encoding/bytes.ts";
import { type Attachment, AttachmentReader } from "../providers/requests/attachments.ts";
import { rejectUnusual } from "./check-option.ts";
import type { TextChecker } from "./text-checker.ts";

type AttachmentPart = Exclude<Part, { readonly type: "text" }>;

/** How many bytes of a file of another type tell whether it is text all the same. */
const PROBE_BYTES = 1_024;

/**
 * The text of an inline file as the model would read it; null for pictures, PDF and other files that are no text, and for
 * files that are given by address or id.
 */
function getText(attachment: Attachment): string | null {
  if (attachment.kind === "text") return attachment.text;
  const { kind, source } = attachment;
  if (kind !== "document" || source.kind !== "bytes" || !isText(source.bytes)) return null;
  return new TextDecoder().decode(source.bytes);
}

/** Whether the beginning of a file is UTF-8. The last character may be cut off. */
function isText(bytes: Uint8Array): boolean {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: false });
  try {
    return !decoder.decode(bytes.subarray(0, PROBE_BYTES), { stream: true }).includes("\0");
  } catch {
    return false;
  }
}

/** Masks the attachments of one conversation. */
export class AttachmentChecker {
  readonly #reader: AttachmentReader;
  readonly #checker: TextChecker;

  constructor(conversation: ConstructorParameters<typeof AttachmentReader>[0], checker: TextChecker) {
    this.#reader = new AttachmentReader(conversation);
    this.#checker = checker;
  }

  /**
   * Returns an attachment with masked text and name.
   *
   * @throws GatewayError 400 for broken data, or if a rule denies the text, the media type or the detail
   */
  async mask(part: AttachmentPart): Promise<AttachmentPart> {
    const { source } = part;
    await rejectUnusual(this.#checker, source.kind === "inline" ? source.mediaType : undefined);
    if (part.type === "image") {
      await rejectUnusual(this.#checker, part.detail);
      return part;
    }
    const { filename } = part;
    await rejectUnusual(this.#checker, part.mediaType);
    const named = filename === undefined ? part : { ...part, filename: await this.#checker.mask(filename) };
    const text = getText(this.#reader.read(part));
    if (text === null) return named;
    // A zero byte within a word must not hide it.
    const masked = await this.#checker.mask(text.replaceAll("\0", ""));
    if (masked === text) return named;
    const mediaType = "text/plain";
    return { ...named, mediaType, source: { kind: "inline", data: toBase64(toUtf8(masked)), mediaType } };
  }
}

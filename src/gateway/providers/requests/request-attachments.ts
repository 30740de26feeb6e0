import type { Conversation, Part } from "../../../core/conversation/conversation.ts";
import { toBase64 } from "../../../core/encoding/bytes.ts";
import { type GatewayError, invalidRequest } from "../../../core/errors/gateway-error.ts";
import type { PrepareOptions } from "../provider.ts";
import { allOrAbort } from "./all-or-abort.ts";
import { type Attachment, AttachmentReader, isText, loadAttachment } from "./attachments.ts";
import { sniffMediaType } from "./media-type-sniffing.ts";

/** A part of a message that is not text. */
export type AttachedPart = Exclude<Part, { type: "text" }>;

/** The bytes of an attachment, encoded for JSON. */
export interface Base64 {
  readonly mediaType: string;
  readonly data: string;
}

/**
 * The attachments of one conversation, for protocols that send them inside the request. Not every backend fetches
 * URLs, so the gateway fetches callers' URLs under its own rules.
 */
export class RequestAttachments {
  readonly #conversation: Conversation;
  readonly #options: PrepareOptions;
  readonly #attachments = new Map<AttachedPart, Attachment>();
  readonly #loaded = new Map<Attachment, Base64>();

  /**
   * Throws a `GatewayError` 400 for a broken attachment. Does not check for vision: only the backend knows which
   * models have it.
   */
  constructor(conversation: Conversation, options: PrepareOptions) {
    this.#conversation = conversation;
    this.#options = options;
    const reader = new AttachmentReader(conversation);
    for (const { parts } of conversation.messages) {
      for (const part of parts) if (part.type !== "text") this.#attachments.set(part, reader.read(part));
    }
  }

  get isEmpty(): boolean {
    return this.#attachments.size === 0;
  }

  /** All attachments. One that occurs several times is returned several times. After loading, text files are `text`. */
  all(): Iterable<Attachment> {
    return this.#attachments.values();
  }

  /** Returns the attachment of a part of the conversation. */
  of(part: AttachedPart): Attachment {
    const attachment = this.#attachments.get(part);
    if (attachment === undefined) throw new TypeError("an attachment that was not read");
    return attachment;
  }

  /** Returns the bytes of an attachment. Undefined before loading, and for attachments without bytes here. */
  loaded(attachment: Attachment): Base64 | undefined {
    return this.#loaded.get(attachment);
  }

  /** Fetches attachments that are behind URLs and encodes all bytes. */
  async load(signal: AbortSignal): Promise<void> {
    if (this.isEmpty) return;
    const missing = new Set([...this.all()].filter((attachment) => !this.#loaded.has(attachment)));
    const texts = new Map<Attachment, Attachment>();
    await allOrAbort(
      signal,
      [...missing].map((attachment) => async (all) => {
        if (attachment.kind === "text" || attachment.source.kind === "file") return;
        const { bytes, mediaType } = await loadAttachment(attachment, this.#options, all);
        const data = toBase64(bytes);
        const { kind, filename } = attachment;
        // The type of a file given by URL is known only now.
        if (kind === "document" && isText(sniffMediaType(data) ?? mediaType, filename)) {
          texts.set(attachment, { kind: "text", filename, text: new TextDecoder().decode(bytes) });
        } else this.#loaded.set(attachment, { mediaType, data });
      }),
    );
    for (const [part, attachment] of this.#attachments) {
      const text = texts.get(attachment);
      if (text !== undefined) this.#attachments.set(part, text);
    }
  }

  /** Creates the error 400 for messages with an invalid attachment. */
  fault(problem: string): GatewayError {
    const field = this.#conversation.contentField;
    return invalidRequest(`${field} ${problem}`, field);
  }
}

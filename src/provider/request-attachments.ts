import type { Conversation, Part } from "../conversation/conversation.ts";
import { toBase64 } from "../encoding/bytes.ts";
import { type GatewayError, invalidRequest } from "../errors/gateway-error.ts";
import { type Attachment, AttachmentReader, loadAttachment } from "./attachments.ts";
import type { PrepareOptions } from "./provider.ts";
import { together } from "./together.ts";

/** A piece of a message that is no text. */
export type AttachedPart = Exclude<Part, { type: "text" }>;

/** The bytes of an attachment, as they travel within JSON. */
export interface Base64 {
  readonly mediaType: string;
  readonly data: string;
}

/**
 * The attachments of one conversation, for protocols in which they travel within the request: not every backend fetches an
 * address, and one that a caller names is fetched under our own rules.
 */
export class RequestAttachments {
  readonly #conversation: Conversation;
  readonly #options: PrepareOptions;
  readonly #attachments = new Map<AttachedPart, Attachment>();
  readonly #loaded = new Map<Attachment, Base64>();

  /** Throws a `GatewayError` 400 for an attachment that is broken. Which models see images the backend knows. */
  constructor(conversation: Conversation, options: PrepareOptions) {
    this.#conversation = conversation;
    this.#options = options;
    const reader = new AttachmentReader(conversation);
    for (const { parts } of conversation.messages) {
      for (const part of parts) if (part.type !== "text") this.#attachments.set(part, reader.read(part));
    }
  }

  /** Whether there are none. */
  get isEmpty(): boolean {
    return this.#attachments.size === 0;
  }

  /** All of them; one that stands in several places comes as often. */
  all(): Iterable<Attachment> {
    return this.#attachments.values();
  }

  /** What a part of the conversation is. */
  of(part: AttachedPart): Attachment {
    const attachment = this.#attachments.get(part);
    if (attachment === undefined) throw new TypeError("an attachment that was not read");
    return attachment;
  }

  /** An attachment's bytes; undefined before they are loaded, and for one that has none here. */
  loaded(attachment: Attachment): Base64 | undefined {
    return this.#loaded.get(attachment);
  }

  /** Fetches what is behind URLs. */
  async load(signal: AbortSignal): Promise<void> {
    if (this.isEmpty) return;
    const missing = new Set([...this.all()].filter((attachment) => !this.#loaded.has(attachment)));
    await together(signal, (all) =>
      [...missing].map(async (attachment) => {
        if (attachment.kind === "text" || attachment.source.kind === "file") return;
        const { bytes, mediaType } = await loadAttachment(attachment, this.#options, all);
        this.#loaded.set(attachment, { mediaType, data: toBase64(bytes) });
      }),
    );
  }

  /** The 400 of messages with an attachment at fault. */
  fault(what: string): GatewayError {
    const field = this.#conversation.contentField;
    return invalidRequest(`${field} ${what}`, field);
  }
}

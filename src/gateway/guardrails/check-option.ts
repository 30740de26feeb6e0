import type { TextChecker } from "./text-checker.ts";

/** Values of options that are no texts: ids of tokens, usual efforts, sizes and lifetimes, and modalities. */
const PLAIN_OPTION =
  /^(?:\d{1,7}|none|minimal|low|medium|high|xhigh|max|auto|original|audio|image|video|5m|1h)$/;

/** The usual media types of attachments. */
const PLAIN_MEDIA_TYPES: ReadonlySet<string> = new Set([
  ...["png", "jpeg", "jpg", "gif", "webp", "heic", "heif", "avif", "bmp", "tiff", "svg+xml"].map(
    (name) => `image/${name}`,
  ),
  ...["wav", "x-wav", "mpeg", "mp3", "mp4", "ogg", "flac", "aac", "webm"].map((name) => `audio/${name}`),
  ...["mp4", "mpeg", "quicktime", "webm"].map((name) => `video/${name}`),
  ...["plain", "csv", "html", "markdown", "xml"].map((name) => `text/${name}`),
  ...["pdf", "json", "xml", "octet-stream"].map((name) => `application/${name}`),
]);

const isUnusual = (option: string) => !PLAIN_OPTION.test(option) && !PLAIN_MEDIA_TYPES.has(option);

/**
 * Checks values of options. Usual ones are no texts, so that broad expressions do not deny them.
 *
 * @throws GatewayError if a rule denies, or would mask, one of the others
 */
export async function rejectUnusual(
  checker: TextChecker,
  ...options: readonly (string | undefined)[]
): Promise<void> {
  for (const option of options)
    if (option !== undefined && isUnusual(option)) await checker.rejectMatches(option);
}

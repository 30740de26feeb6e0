/** Maximum number of displayed characters. */
const MAX_CHARS = 300;

/** A truncated name of foreign origin. `<bdi>` isolates its text direction. */
export function TruncatedText({ text }: { readonly text: string }) {
  return <bdi class="clipped">{text.length > MAX_CHARS ? `${text.slice(0, MAX_CHARS)}…` : text}</bdi>;
}

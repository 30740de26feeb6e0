/** Maximum number of displayed characters. */
const MOST = 300;

/** A truncated name of foreign origin. `<bdi>` isolates its text direction. */
export function Clipped({ text }: { readonly text: string }) {
  return <bdi class="clipped">{text.length > MOST ? `${text.slice(0, MOST)}…` : text}</bdi>;
}

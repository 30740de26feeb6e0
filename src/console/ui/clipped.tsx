/** Characters of a name that are shown. */
const MOST = 300;

/** A name that somebody else chose, in a few lines at most, and without a say in the direction of the text around it. */
export function Clipped({ text }: { readonly text: string }) {
  return <bdi class="clipped">{text.length > MOST ? `${text.slice(0, MOST)}…` : text}</bdi>;
}

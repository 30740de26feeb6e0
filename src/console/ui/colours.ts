/** What a drawing may be coloured with: names of the style sheet's tokens. */
export type ColourName = "accent" | "good" | "warn" | "bad" | "muted" | "border";

/** The colour that a token stands for at this moment, as canvases understand it. */
export function colourOf(name: ColourName): string {
  const probe = document.createElement("i");
  probe.style.color = `var(--${name})`;
  document.body.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

/** The same colour, nearly transparent. */
export function soft(colour: string): string {
  return colour.replace(/^rgb\((.*)\)$/, (_, parts: string) => `rgba(${parts}, 0.12)`);
}

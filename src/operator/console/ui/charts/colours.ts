/** Colors of drawings: names of the style sheet's tokens. */
export type ColourName = "accent" | "good" | "warn" | "bad" | "muted" | "border";

/** Resolves a token to its current color, in a format for canvases. */
export function resolveColour(name: ColourName): string {
  const probe = document.createElement("i");
  probe.style.color = `var(--${name})`;
  document.body.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

/** Returns the same color, almost transparent. */
export function toTranslucent(colour: string): string {
  return colour.replace(/^rgb\((.*)\)$/, (_, parts: string) => `rgba(${parts}, 0.12)`);
}

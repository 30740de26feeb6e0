interface TileProps {
  readonly name: string;
  readonly value: string;
  readonly below: string;
  /** Whether it needs a look; the text tells the same. */
  readonly tone?: "warn" | "bad" | undefined;
  /** Where its number can be looked into. */
  readonly href?: string;
}

/** One number with its name, in a `dl` of the class `tiles`. */
export function Tile({ name, value, below, tone, href }: TileProps) {
  return (
    <div class={tone === undefined ? "panel tile" : `panel tile ${tone}`}>
      <dt>{href === undefined ? name : <a href={href}>{name}</a>}</dt>
      <dd class="tile-value tabular">{value}</dd>
      <dd class="muted">{below}</dd>
    </div>
  );
}

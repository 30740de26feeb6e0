interface TileProps {
  readonly name: string;
  readonly value: string;
  readonly below: string;
  /** Whether it needs a look; the text tells the same. */
  readonly tone?: "warn" | "bad" | undefined;
}

/** One number with its name, in a `dl` of the class `tiles`. */
export function Tile({ name, value, below, tone }: TileProps) {
  return (
    <div class={tone === undefined ? "panel tile" : `panel tile ${tone}`}>
      <dt>{name}</dt>
      <dd class="tile-value tabular">{value}</dd>
      <dd class="muted">{below}</dd>
    </div>
  );
}

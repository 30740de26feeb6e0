interface TileProps {
  readonly name: string;
  readonly value: string;
  readonly below: string;
  /** A second line, such as the change since another time. */
  readonly more?: string;
  /** Whether the number needs attention. The text says the same. */
  readonly tone?: "warn" | "bad" | undefined;
  /** Link to details of the number. */
  readonly href?: string;
}

/** One number with its name, in a `dl` with the class `tiles`. */
export function Tile({ name, value, below, more, tone, href }: TileProps) {
  return (
    <div class={tone === undefined ? "panel tile" : `panel tile ${tone}`}>
      <dt>{href === undefined ? name : <a href={href}>{name}</a>}</dt>
      <dd class="tile-value tabular">{value}</dd>
      <dd class="muted">{below}</dd>
      {more !== undefined && <dd class="muted tabular">{more}</dd>}
    </div>
  );
}

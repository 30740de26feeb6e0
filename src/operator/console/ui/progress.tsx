import { formatCount } from "./count.ts";

interface ProgressProps {
  readonly label: string;
  readonly value: number;
  readonly max: number;
}

export function Progress({ label, value, max }: ProgressProps) {
  return (
    <div class="progress">
      <progress aria-label={label} value={value} max={Math.max(max, 1)} />
      <span class="muted tabular">
        {formatCount(value)} / {formatCount(max)}
      </span>
    </div>
  );
}

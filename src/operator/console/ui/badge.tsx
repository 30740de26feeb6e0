import type { ComponentChildren } from "preact";

export type Tone = "good" | "bad" | "warn" | "neutral" | "live";

/** A short state with a colored dot. The text contains the full meaning; the color only supports it. */
export function Badge({ tone, children, title }: BadgeProps) {
  return (
    <span class={`badge ${tone}`} title={title}>
      {children}
    </span>
  );
}

interface BadgeProps {
  readonly tone: Tone;
  readonly children: ComponentChildren;
  readonly title?: string;
}

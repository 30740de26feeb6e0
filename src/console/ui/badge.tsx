import type { ComponentChildren } from "preact";

export type Tone = "good" | "bad" | "warn" | "neutral" | "live";

/** A short state with a dot; the text tells all, the colour only helps. */
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

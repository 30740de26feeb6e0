import type { ComponentChildren, Ref } from "preact";

interface ScrollerProps {
  readonly label: string;
  readonly class: string;
  readonly children: ComponentChildren;
  readonly box?: Ref<HTMLElement>;
}

/** Not every browser lets the keyboard into what scrolls. */
const REACHABLE = { tabIndex: 0 };

/** A part that scrolls by itself, also by keyboard. */
export function Scroller({ label, class: name, children, box }: ScrollerProps) {
  return (
    <section aria-label={label} class={name} {...(box !== undefined && { ref: box })} {...REACHABLE}>
      {children}
    </section>
  );
}

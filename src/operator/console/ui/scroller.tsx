import type { ComponentChildren, Ref } from "preact";

interface ScrollerProps {
  readonly label: string;
  readonly class: string;
  readonly children: ComponentChildren;
  readonly box?: Ref<HTMLElement>;
}

/** Some browsers need a tab index to scroll by keyboard. */
const REACHABLE = { tabIndex: 0 };

/** A scrollable area, also by keyboard. */
export function Scroller({ label, class: name, children, box }: ScrollerProps) {
  return (
    <section aria-label={label} class={name} {...(box !== undefined && { ref: box })} {...REACHABLE}>
      {children}
    </section>
  );
}

import type { ComponentChildren } from "preact";
import { Icon, type IconName } from "./icon.tsx";

interface EmptyProps {
  readonly icon: IconName;
  readonly title: string;
  readonly children?: ComponentChildren;
  readonly action?: ComponentChildren;
}

/** What stands where there is nothing yet: why, and what to do about it. */
export function Empty({ icon, title, children, action }: EmptyProps) {
  return (
    <div class="empty">
      <Icon name={icon} />
      <p class="empty-title">{title}</p>
      {children !== undefined && <p>{children}</p>}
      {action}
    </div>
  );
}

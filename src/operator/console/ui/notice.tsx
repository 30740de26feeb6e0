import type { ComponentChildren } from "preact";
import { Icon } from "./icon.tsx";

interface NoticeProps {
  readonly kind: "error" | "warning" | "info" | "success";
  readonly children: ComponentChildren;
  readonly action?: ComponentChildren;
}

/** An important message. Screen readers announce errors at once. */
export function Notice({ kind, children, action }: NoticeProps) {
  return (
    <div class={`notice ${kind}`} role={kind === "error" ? "alert" : undefined}>
      <Icon name={kind === "success" ? "check" : kind === "info" ? "info" : "warning"} />
      <div class="notice-text">{children}</div>
      {action}
    </div>
  );
}

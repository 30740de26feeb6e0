import type { ComponentChildren } from "preact";
import { type NeededRole, useRoleProps } from "../own-user.ts";

interface ButtonProps {
  readonly children: ComponentChildren;
  /** `primary` is for the main action of a view. */
  readonly kind?: "primary" | "plain" | "quiet" | "danger";
  readonly type?: "button" | "submit";
  readonly busy?: boolean;
  readonly disabled?: boolean;
  readonly title?: string;
  /** Accessible name, if the text is ambiguous: for example the row that the button belongs to. */
  readonly label?: string;
  readonly pressed?: boolean;
  /** The role that the action needs. For weaker roles the button is disabled, with the reason. */
  readonly needs?: NeededRole;
  readonly onClick?: () => void;
}

export function Button(props: ButtonProps) {
  const { kind = "plain", busy = false } = props;
  const { disabled = false, title = props.title } = useRoleProps(props.needs);
  return (
    <button
      type={props.type === "submit" ? "submit" : "button"}
      class={`button ${kind}`}
      disabled={busy || disabled || props.disabled}
      aria-busy={busy}
      aria-label={props.label}
      aria-pressed={props.pressed}
      title={title}
      onClick={props.onClick}
    >
      {busy && <span class="spinner" aria-hidden="true" />}
      {props.children}
    </button>
  );
}

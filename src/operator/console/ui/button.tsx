import type { ComponentChildren } from "preact";

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
  readonly onClick?: () => void;
}

export function Button(props: ButtonProps) {
  const { kind = "plain", busy = false } = props;
  return (
    <button
      type={props.type === "submit" ? "submit" : "button"}
      class={`button ${kind}`}
      disabled={busy || props.disabled}
      aria-busy={busy}
      aria-label={props.label}
      aria-pressed={props.pressed}
      title={props.title}
      onClick={props.onClick}
    >
      {busy && <span class="spinner" aria-hidden="true" />}
      {props.children}
    </button>
  );
}

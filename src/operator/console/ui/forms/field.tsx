import { type ComponentChildren, h, type TargetedInputEvent } from "preact";
import { useId } from "preact/hooks";
import { useFieldError } from "./form-errors.ts";

interface FrameProps {
  readonly label: string;
  readonly hint?: ComponentChildren;
  readonly error?: string | undefined;
  /** Name of the field in the gateway's errors. With it, the field shows the errors that the form gets for it. */
  readonly path?: string;
}

interface InputProps<T> extends FrameProps {
  readonly value: T;
  readonly onChange: (value: T) => void;
  readonly disabled?: boolean;
}

function Frame(props: FrameProps & { readonly id: string; readonly children: ComponentChildren }) {
  const { id, label, hint, error } = props;
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {props.children}
      {hint !== undefined && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {error !== undefined && error !== "" && (
        <p class="field-error" id={`${id}-error`}>
          {error}
        </p>
      )}
    </div>
  );
}

/** Ids of the elements that describe an input to screen readers: its hint and its error. */
function describedBy(id: string, { hint, error }: FrameProps): string | undefined {
  const ids = [hint !== undefined ? `${id}-hint` : "", error ? `${id}-error` : ""].filter(Boolean);
  return ids.length === 0 ? undefined : ids.join(" ");
}

interface TextFieldProps extends InputProps<string> {
  readonly type?: "text" | "password" | "email" | "url" | "number" | "search" | "date" | "datetime-local";
  readonly placeholder?: string;
  readonly autocomplete?: string;
  readonly required?: boolean;
  readonly min?: number;
  readonly max?: number;
  readonly mono?: boolean;
  readonly focus?: boolean;
  /** Values that the browser suggests while the user types. */
  readonly suggestions?: readonly string[];
}

export function TextField(props: TextFieldProps) {
  const id = useId();
  const { error, onInput } = useFieldError(props.path, props.label, props.error);
  const type = props.type ?? "text";
  // Preact's types of an `<input>` depend on `type`, which is dynamic here.
  const input = h("input", {
    id,
    type,
    class: props.mono ? "mono" : undefined,
    value: props.value,
    placeholder: props.placeholder,
    autocomplete: props.autocomplete ?? "off",
    required: props.required,
    disabled: props.disabled,
    min: props.min,
    max: props.max,
    step: type === "number" ? "any" : undefined,
    spellcheck: false,
    list: props.suggestions === undefined ? undefined : `${id}-list`,
    "data-focus": props.focus ? "" : undefined,
    "aria-invalid": error ? true : undefined,
    "aria-describedby": describedBy(id, { ...props, error }),
    onInput: (event: TargetedInputEvent<HTMLInputElement>) => {
      onInput();
      props.onChange(event.currentTarget.value);
    },
  });
  return (
    <Frame id={id} label={props.label} hint={props.hint} error={error}>
      {input}
      {props.suggestions !== undefined && (
        <datalist id={`${id}-list`}>
          {props.suggestions.map((value) => (
            <option key={value} value={value} />
          ))}
        </datalist>
      )}
    </Frame>
  );
}

interface AreaFieldProps extends InputProps<string> {
  readonly rows?: number;
  readonly placeholder?: string;
  readonly mono?: boolean;
}

export function AreaField(props: AreaFieldProps) {
  const id = useId();
  const { error, onInput } = useFieldError(props.path, props.label, props.error);
  return (
    <Frame id={id} label={props.label} hint={props.hint} error={error}>
      <textarea
        id={id}
        rows={props.rows ?? 4}
        class={props.mono ? "mono" : undefined}
        value={props.value}
        placeholder={props.placeholder}
        disabled={props.disabled}
        spellcheck={false}
        aria-invalid={error ? true : undefined}
        aria-describedby={describedBy(id, { ...props, error })}
        onInput={(event) => {
          onInput();
          props.onChange(event.currentTarget.value);
        }}
      />
    </Frame>
  );
}

/** A choice: its value and its label. */
export type Choice = readonly [value: string, name: string];

interface SelectFieldProps extends InputProps<string> {
  readonly choices: readonly Choice[];
}

export function SelectField(props: SelectFieldProps) {
  const id = useId();
  const { error, onInput } = useFieldError(props.path, props.label, props.error);
  return (
    <Frame id={id} label={props.label} hint={props.hint} error={error}>
      <select
        id={id}
        value={props.value}
        disabled={props.disabled}
        aria-invalid={error ? true : undefined}
        aria-describedby={describedBy(id, { ...props, error })}
        onChange={(event) => {
          onInput();
          props.onChange(event.currentTarget.value);
        }}
      >
        {props.choices.map(([value, name]) => (
          <option key={value} value={value}>
            {name}
          </option>
        ))}
      </select>
    </Frame>
  );
}

export function CheckField(props: InputProps<boolean>) {
  const id = useId();
  return (
    <div class="field check">
      <input
        id={id}
        type="checkbox"
        checked={props.value}
        disabled={props.disabled}
        aria-describedby={describedBy(id, props)}
        onChange={(event) => props.onChange(event.currentTarget.checked)}
      />
      <label for={id}>{props.label}</label>
      {props.hint !== undefined && (
        <p class="hint" id={`${id}-hint`}>
          {props.hint}
        </p>
      )}
    </div>
  );
}

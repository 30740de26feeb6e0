import { createContext, type RefObject } from "preact";
import { useCallback, useContext, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { toMessage } from "../../api/client.ts";
import { words } from "../words.ts";

/** Error messages by the paths of the fields. */
export type Faults = Readonly<Record<string, string>>;

/** Invalid inputs that the console finds before they are sent. */
export class InvalidInput extends Error {
  readonly faults: Faults;

  constructor(faults: Faults) {
    super(Object.values(faults).join(" "));
    this.name = "InvalidInput";
    this.faults = faults;
  }
}

/** @throws InvalidInput if there is a fault */
export function rejectFaults(faults: Faults): void {
  if (Object.keys(faults).length > 0) throw new InvalidInput(faults);
}

/**
 * Splits an error message of the gateway that names a field: `runtime.account_max_queue: must be …`.
 * null: it names none.
 */
export function splitFault(message: string): { readonly path: string; readonly fault: string } | null {
  const { path, fault } = /^(?<path>[\w.[\]-]+): (?<fault>.+)$/s.exec(message)?.groups ?? {};
  return path === undefined || fault === undefined ? null : { path, fault };
}

/** The place of a form's entry in the configuration, in front of a field's path. */
const ENTRY_PLACE = /^(?:[a-z_]+\[\d+\]|default_provider)\./;

/**
 * Finds the field of a path, or of what contains it: `models` for `models[2]`. The path may begin with the place of the
 * form's entry: `limits.cost_per_day` for `api_keys[0].limits.cost_per_day`.
 */
export function findField(path: string, fields: Iterable<string>): string | undefined {
  const known = [...fields];
  return findLongestField(path, known) ?? findLongestField(path.replace(ENTRY_PLACE, ""), known);
}

function findLongestField(path: string, fields: readonly string[]): string | undefined {
  let found: string | undefined;
  for (const field of fields) {
    const contains = path === field || path.startsWith(`${field}.`) || path.startsWith(`${field}[`);
    if (contains && field.length > (found?.length ?? 0)) found = field;
  }
  return found;
}

/** An error as the field shows it: `Host: belongs to …` for `headers.Host: belongs to …` at the field `headers`. */
export function describeFault(path: string, fault: string, field: string): string {
  const member = path.slice(path.lastIndexOf(field) + field.length);
  return member.startsWith(".") ? `${member.slice(1)}: ${fault}` : fault;
}

/** Focuses the first invalid field after the fields have rendered their errors, and opens what hides it. */
function focusFirstInvalid(form: HTMLFormElement | null): void {
  setTimeout(() => {
    const first = form?.querySelector('[aria-invalid="true"]');
    if (!(first instanceof HTMLElement)) return;
    for (
      let box = first.closest("details");
      box !== null;
      box = box.parentElement?.closest("details") ?? null
    )
      box.open = true;
    first.focus();
  });
}

/** What a form knows of its fields that have a path. */
export interface FormErrors {
  readonly faults: Faults;
  /** Adds a field. Returns a function that removes it and its error. */
  register(path: string, label: string): () => void;
  /** Forgets the error of a field, because its value changes. */
  clear(path: string): void;
}

export const FormErrorsContext = createContext<FormErrors | null>(null);

/** The errors of a form's fields. */
export interface FormErrorsState {
  /**
   * What the fields get. It changes only with the errors: a field that renders between the events `input` and `change`
   * would lose the user's choice.
   */
  readonly context: FormErrors;
  /** The form, for its element. */
  readonly form: RefObject<HTMLFormElement | null>;
  /**
   * Shows an error at the fields that it names. Returns the error to show at the buttons:
   * which fields to fix, or the error itself.
   */
  showAtFields(thrown: unknown): unknown;
  clearAll(): void;
}

interface RegisteredField {
  readonly path: string;
  readonly label: string;
}

/** Finds the fields that an error names; null: it names none, or one that the form does not have. */
function locate(
  thrown: unknown,
  fields: readonly RegisteredField[],
): ReadonlyMap<RegisteredField, string> | null {
  const message = toMessage(thrown);
  const split = splitFault(message);
  const named =
    thrown instanceof InvalidInput ? thrown.faults : split === null ? {} : { [split.path]: split.fault };
  const paths = fields.map(({ path }) => path);
  const located = Object.entries(named).map(([path, fault]) => {
    const found = findField(path, paths);
    const field = fields.find((each) => each.path === found);
    return field === undefined ? null : ([field, describeFault(path, fault, field.path)] as const);
  });
  const known = located.filter((each) => each !== null);
  return known.length === 0 || known.length < located.length ? null : new Map(known);
}

/** The one way in which forms show errors at their fields. */
export function useFormErrors(): FormErrorsState {
  const [faults, setFaults] = useState<Faults>({});
  const form = useRef<HTMLFormElement>(null);
  const fields = useRef(new Set<RegisteredField>());
  const clear = useCallback((path: string) => {
    setFaults((before) => {
      const { [path]: cleared, ...others } = before;
      return cleared === undefined ? before : others;
    });
  }, []);
  const register = useCallback(
    (path: string, label: string) => {
      const field = { path, label };
      fields.current.add(field);
      return () => {
        fields.current.delete(field);
        clear(path);
      };
    },
    [clear],
  );
  const clearAll = () => setFaults({});
  const showAtFields = (thrown: unknown): unknown => {
    const located = locate(thrown, [...fields.current]);
    if (located === null) return thrown;
    setFaults(Object.fromEntries([...located].map(([{ path }, fault]) => [path, fault])));
    focusFirstInvalid(form.current);
    return new Error(words.notSavedFix([...located.keys()].map(({ label }) => label).join(", ")));
  };
  const context = useMemo(() => ({ faults, register, clear }), [faults, register, clear]);
  return { context, form, clearAll, showAtFields };
}

/**
 * Registers a field at its form. Returns its error, and a function to call when the value changes.
 *
 * @param path name of the field in errors of the gateway; undefined: the field shows only its own errors
 */
export function useFieldError(path: string | undefined, label: string, ownError: string | undefined) {
  const form = useContext(FormErrorsContext);
  const register = form?.register;
  useEffect(() => {
    if (path === undefined || register === undefined) return;
    return register(path, label);
  }, [path, label, register]);
  const fault = path === undefined ? undefined : form?.faults[path];
  return {
    error: ownError || fault,
    onInput: () => {
      if (path !== undefined) form?.clear(path);
    },
  };
}

import { createContext } from "preact";
import { useCallback, useContext, useEffect, useRef, useState } from "preact/hooks";
import { toMessage } from "../api/client.ts";

/** Error messages by the paths of the fields. */
export type Faults = Readonly<Record<string, string>>;

/** An invalid input that the console finds before it is sent. */
export class InvalidInput extends Error {
  /** Path of the field. */
  readonly path: string;

  constructor(path: string, message: string) {
    super(message);
    this.name = "InvalidInput";
    this.path = path;
  }
}

/** Splits an error message of the gateway that names a field: `runtime.account_max_queue: must be …`. null: it names none. */
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

/** Focuses the first invalid field after the fields have rendered their errors. */
export function focusFirstInvalid(form: HTMLFormElement | null): void {
  setTimeout(() => {
    const first = form?.querySelector('[aria-invalid="true"]');
    if (first instanceof HTMLElement) first.focus();
  });
}

/** What a form knows of its fields that have a path. */
export interface FormErrors {
  readonly faults: Faults;
  /** Adds a field. Returns a function that removes it. */
  register(path: string, label: string): () => void;
  /** Forgets the error of a field, because its value changes. */
  clear(path: string): void;
}

export const FormErrorsContext = createContext<FormErrors | null>(null);

/** The errors of a form's fields. */
export interface FormErrorsState extends FormErrors {
  /** Shows an error at the field that it names. Returns the label of the field; undefined: the form has no such field. */
  showAtField(thrown: unknown): string | undefined;
  clearAll(): void;
}

export function useFormErrors(): FormErrorsState {
  const [faults, setFaults] = useState<Faults>({});
  const labels = useRef(new Map<string, string>());
  const register = useCallback((path: string, label: string) => {
    labels.current.set(path, label);
    return () => {
      labels.current.delete(path);
    };
  }, []);
  const clear = useCallback((path: string) => {
    setFaults((before) => {
      const { [path]: cleared, ...others } = before;
      return cleared === undefined ? before : others;
    });
  }, []);
  const clearAll = () => setFaults({});
  const showAtField = (thrown: unknown): string | undefined => {
    const message = toMessage(thrown);
    const named =
      thrown instanceof InvalidInput ? { path: thrown.path, fault: message } : splitFault(message);
    const field = named === null ? undefined : findField(named.path, labels.current.keys());
    if (named === null || field === undefined) return undefined;
    setFaults({ [field]: named.fault });
    return labels.current.get(field);
  };
  return { faults, register, clear, clearAll, showAtField };
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

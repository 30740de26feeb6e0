import { getMemberText, removeMember, setMember } from "../../core/encoding/json-splice.ts";
import { fieldRefusalPattern, type OptionalField } from "./optional-fields.ts";

/** A native request with the backend's name for the model. */
export interface NativeWire {
  readonly model: string;
  readonly stream: boolean;
  readonly text: string;
}

/** A member that has a newer name. */
export interface RenamedMember {
  readonly name: string;
  readonly newName: string;
  /** Matches a refusal that demands the new name. */
  readonly refusalPattern: RegExp;
}

/** What the native path of a protocol needs. */
export interface NativeProtocol {
  /** The API style that is the same protocol. */
  readonly dialect: string;
  /** Whether the body names the model. Otherwise the path does. */
  readonly hasModelInBody: boolean;
  /**
   * Members that influence the answer or label the request, but do not change its kind. They are left out if the backend
   * refuses them by name.
   */
  readonly optionalMembers: readonly string[];
  /** Members with a newer name, which some models demand. */
  readonly renamedMembers?: readonly RenamedMember[];
}

/** The fields that the native path leaves out or renames when a backend refuses them. */
export function nativeOptionalFields({
  optionalMembers,
  renamedMembers = [],
}: NativeProtocol): readonly OptionalField<NativeWire>[] {
  const hasMember = (name: string) => (request: NativeWire) => getMemberText(request.text, [name]) !== null;
  const optional = optionalMembers.map((name) => ({
    refusalPattern: fieldRefusalPattern(name),
    isPresent: hasMember(name),
    remove: (request: NativeWire) => ({ ...request, text: removeMember(request.text, name) }),
  }));
  const renamed = renamedMembers.map(({ name, newName, refusalPattern }) => ({
    refusalPattern,
    isPresent: hasMember(name),
    remove: (request: NativeWire) => {
      const value = getMemberText(request.text, [name]) ?? "null";
      return { ...request, text: setMember(removeMember(request.text, name), newName, value) };
    },
  }));
  return [...optional, ...renamed];
}

/** The names of optional members that `sent` lacks. */
export function listDroppedMembers(
  { optionalMembers }: NativeProtocol,
  requested: NativeWire,
  sent: NativeWire,
): string[] {
  if (requested.text === sent.text) return [];
  const has = ({ text }: NativeWire, name: string) => getMemberText(text, [name]) !== null;
  return optionalMembers.filter((name) => has(requested, name) && !has(sent, name));
}

/** The body with the backend's name for the model. */
export function withModelName({ text, model }: NativeWire): string {
  return setMember(text, "model", JSON.stringify(model));
}

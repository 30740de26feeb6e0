import { setMember } from "../../../core/encoding/json-splice.ts";

/** A native request with the backend's name for the model. */
export interface NativeWire {
  readonly model: string;
  readonly stream: boolean;
  readonly text: string;
}

/** What the native path of a protocol needs. */
export interface NativeProtocol {
  /** The API style that is the same protocol. */
  readonly dialect: string;
  /** Whether the body names the model. Otherwise the path does. */
  readonly hasModelInBody: boolean;
  /** Paths of other API styles that some backends of the protocol have, by the id of the style. */
  readonly optionalPaths?: Readonly<Record<string, string>>;
  /** Creates the posted body, if it is neither the caller's text nor the text with the model's name. */
  readonly createBody?: (wire: NativeWire) => string;
}

/** The body with the backend's name for the model. */
export function withModelName({ text, model }: NativeWire): string {
  return setMember(text, "model", JSON.stringify(model));
}

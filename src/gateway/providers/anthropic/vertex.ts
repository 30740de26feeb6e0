import { altersUrlPath } from "../../../core/conversation/model-path.ts";
import { removeMember, setMember } from "../../../core/encoding/json-splice.ts";
import { modelNotFound } from "../errors/model-not-found.ts";
import type { NativeProtocol, NativeWire } from "../native/native-request.ts";
import type { WireRequest } from "./wire.ts";

/** The protocol's version on Vertex AI, in the body. */
const VERTEX_VERSION = "vertex-2023-10-16";

/** Whether a base URL is that of the publisher on Vertex AI: `…/projects/p/locations/l/publishers/anthropic`. */
export function isVertexAddress(baseUrl: string): boolean {
  return /\/publishers\/anthropic\/*$/.test(baseUrl);
}

/**
 * The path of a generation request on Vertex AI. It names the model, which may contain `@` and a date.
 *
 * @throws GatewayError 400 for a name that would change the address.
 */
export function getVertexPath({
  model,
  stream,
}: {
  readonly model: string;
  readonly stream?: boolean;
}): string {
  if (altersUrlPath(model) || model.includes("/")) throw modelNotFound(model);
  const name = encodeURIComponent(model).replaceAll("%40", "@");
  return `/models/${name}:${stream === true ? "streamRawPredict" : "rawPredict"}`;
}

/** The body of a request on Vertex AI: without the model. */
export function toVertexBody({ model: _, ...body }: WireRequest): object {
  return { anthropic_version: VERTEX_VERSION, ...body };
}

/** What the native path does otherwise on Vertex AI. */
export const VERTEX_NATIVE: Pick<NativeProtocol, "hasModelInBody" | "createBody"> = {
  hasModelInBody: false,
  createBody: ({ text }: NativeWire) =>
    setMember(removeMember(text, "model"), "anthropic_version", JSON.stringify(VERTEX_VERSION)),
};

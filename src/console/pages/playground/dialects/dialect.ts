import type { Ask, Piece } from "../conversation.ts";

/** A request as it goes over the wire. */
export interface WireRequest {
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
}

/** One way of speaking to the gateway. */
export interface Dialect {
  readonly id: string;
  readonly name: string;
  request(ask: Ask): WireRequest;
  /** What one event of a stream says; `data` is parsed JSON. */
  event(data: unknown): readonly Piece[];
  /** What the whole answer of a request without a stream says. */
  whole(body: unknown): readonly Piece[];
  /** The same request by the vendor's own JavaScript SDK. */
  javascript(origin: string, request: WireRequest, ask: Ask): string;
  /** The same request by the vendor's own Python SDK. */
  python(origin: string, request: WireRequest, ask: Ask): string;
}

/** Pieces without the empty texts. */
export function pieces(...found: readonly Piece[]): readonly Piece[] {
  return found.filter((piece) => {
    if (piece.type === "text" || piece.type === "reasoning" || piece.type === "arguments")
      return piece.text !== "";
    return piece.type !== "error" || piece.message !== "";
  });
}
